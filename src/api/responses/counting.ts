import { refuse, type Result } from "../../core/result.ts";
import { isExactId } from "../../core/ids.ts";
import type { JsonDocument, JsonObject } from "../../core/json/json.ts";
import type { Reply } from "../../core/reply.ts";
import { changeMembers, splice } from "../../formats/edit.ts";
import { requestedModel } from "../../exchange.ts";
import type { Call } from "../../call/call.ts";
import {
  type NativeCapability,
  requireCapability,
  requireNativeProvider,
} from "../../call/capable.ts";
import { responseUsage } from "../../wires/openai/responses_usage.ts";
import type { ApiRequest, Endpoint } from "../client_api.ts";
import { callNative, type NativeCall } from "../native_call.ts";
import { keeperOf } from "./state/reference_owner.ts";
import { hiddenItemProblem } from "./state/references.ts";

/** What an upstream is asked about an input without answering it (OpenAI API, Responses). */
export const counting: readonly Endpoint[] = [
  {
    method: "POST",
    path: "/v1/responses/compact",
    body: true,
    handle: compact,
  },
  {
    method: "POST",
    path: "/v1/responses/input_tokens",
    body: true,
    handle: (call, { document }) =>
      asked(call, document, {
        name: "input_tokens",
        capability: "response_input_tokens",
        isValid: isCount,
      }),
  },
];

async function compact(call: Call, { document }: ApiRequest): Promise<Result<Reply>> {
  const { model } = document.value;
  if ((model ?? null) === null && call.controls.model === null) {
    return refuse("missing_required_parameter", "The field 'model' is required.", "model");
  }
  return await asked(call, document, {
    name: "compact",
    capability: "response_compaction",
    isValid: isCompaction,
    usage: responseUsage,
  });
}

function isCompaction({ object, id }: JsonObject): boolean {
  return object === "response.compaction" && isExactId(id);
}

function isCount({ object, input_tokens: count }: JsonObject): boolean {
  return object === "response.input_tokens" && Number.isSafeInteger(count);
}

/** What is asked, and what is an answer to it. */
interface Question extends Pick<NativeCall, "isValid" | "usage"> {
  readonly name: string;
  readonly capability: NativeCapability;
}

async function asked(
  call: Call,
  document: JsonDocument,
  { name, capability, ...answer }: Question,
): Promise<Result<Reply>> {
  const { model } = document.value;
  if ((model ?? null) !== null && typeof model !== "string") {
    return refuse("invalid_type", "The field 'model' must be a string.", "model");
  }
  const named = requestedModel(call, typeof model === "string" ? model : "");
  if (!named.ok) return named;
  const keeper = await keeperOf(call, document, named.value.provider);
  if (!keeper.ok) return keeper;
  const hidden = await hiddenItemProblem(call, document.value.input);
  if (hidden !== null) return hidden;
  const provider = requireNativeProvider(call, named.value.provider, capability);
  if (!provider.ok) return provider;
  // The only one that can may be another one than the one that keeps what is referred to.
  const able = keeper.value === null ? null : requireCapability(keeper.value, capability);
  if (able !== null && !able.ok) return able;
  const bare = named.value.model ?? provider.value.settings.default_model ?? null;
  if (bare === null && named.value.written !== "") {
    return refuse(
      "missing_required_parameter",
      "Name a model: the provider has no default_model to choose.",
      "model",
    );
  }
  return await callNative(call, {
    provider: provider.value,
    method: "POST",
    path: ["responses", name],
    body: withModel(document, bare),
    model: bare,
    ...answer,
  });
}

/** The client's own document with the bare name of the model, where one is known. */
function withModel({ text, value, members }: JsonDocument, model: string | null): string {
  if (model === null || value.model === model) return text;
  return splice(
    text,
    changeMembers(text.indexOf("{"), members, [["model", JSON.stringify(model)]]),
  );
}
