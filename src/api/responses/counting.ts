import { refuse, type Result } from "../../core/failure/result.ts";
import { isExactId } from "../../core/ids.ts";
import type { JsonDocument, JsonObject } from "../../core/json/json.ts";
import type { Reply } from "../../core/stream/reply.ts";
import { changeMembers, type Entry, splice } from "../../formats/edit.ts";
import { requestedModel } from "../../exchange.ts";
import type { Call } from "../../call/call.ts";
import {
  hasCapability,
  type NativeCapability,
  requireCapability,
  requireNativeProvider,
} from "../../routing/capability.ts";
import { refuseModel, refuseUnknownCost, refuseUnpriced } from "../../access/permissions.ts";
import { refuseSteering } from "../../access/steering.ts";
import { parseResponseUsage } from "../../wires/openai/responses_usage.ts";
import type { ApiRequest, Endpoint } from "../client_api.ts";
import { callNative, type NativeCall } from "../stored/native_call.ts";
import { requiredField, wrongField } from "../items/shape.ts";
import type { RouteTarget } from "../../call/generation.ts";
import { findNamedTarget } from "../../routing/requested_model.ts";
import { instructionEntries } from "./native/preset.ts";
import { type CutReasoning, cutSealed } from "./native/sealed_reasoning.ts";
import { findReferenceOwner } from "./state/reference_owner.ts";
import { hiddenItemProblem } from "./state/references.ts";

/**
 * Endpoints that an upstream serves for an input without generating a response (OpenAI API,
 * Responses).
 */
export const counting: readonly Endpoint[] = [
  {
    method: "POST",
    path: "/v1/responses/compact",
    about: "Compacts an input; needs a provider with `response_compaction`.",
    body: true,
    handle: compact,
  },
  {
    method: "POST",
    path: "/v1/responses/input_tokens",
    about: "Counts the tokens of an input; needs a provider with `response_input_tokens`.",
    body: true,
    handle: (call, { document }) =>
      callCapableProvider(call, document, {
        name: "input_tokens",
        capability: "response_input_tokens",
        isValid: isCount,
        billing: "tokens",
      }),
  },
];

async function compact(call: Call, { document }: ApiRequest): Promise<Result<Reply>> {
  const { model } = document.value;
  if ((model ?? null) === null && call.controls.model === null) {
    return requiredField("model");
  }
  return await callCapableProvider(call, document, {
    name: "compact",
    capability: "response_compaction",
    isValid: isCompaction,
    usage: parseResponseUsage,
    billing: "tokens and cost",
  });
}

function isCompaction({ object, id }: JsonObject): boolean {
  return object === "response.compaction" && isExactId(id);
}

function isCount({ object, input_tokens: count }: JsonObject): boolean {
  return object === "response.input_tokens" && Number.isSafeInteger(count);
}

/**
 * One of these operations: its path segment, its capability, and the check of the upstream's
 * response.
 */
interface InputOperation extends Pick<NativeCall, "isValid" | "usage" | "billing"> {
  readonly name: string;
  readonly capability: NativeCapability;
}

async function callCapableProvider(
  call: Call,
  document: JsonDocument,
  { name, capability, ...answer }: InputOperation,
): Promise<Result<Reply>> {
  const { model } = document.value;
  if ((model ?? null) !== null && typeof model !== "string") {
    return wrongField("model", "a string");
  }
  const named = requestedModel(call, typeof model === "string" ? model : "");
  if (!named.ok) return named;
  const owner = await findReferenceOwner(call, document, named.value.provider);
  if (!owner.ok) return owner;
  const hidden = await hiddenItemProblem(call, document.value.input);
  if (hidden !== null) return hidden;
  const { client: { key, steering }, generation } = call;
  const { written } = named.value;
  const target = findNamedTarget(
    generation,
    named.value,
    ({ provider, model }) =>
      hasCapability(provider, capability) &&
      refuseModel(key, provider.id, model ?? written, written) === null,
  );
  const requested = target?.provider.id ?? named.value.provider;
  const provider = requireNativeProvider(call, requested, capability);
  if (!provider.ok) return provider;
  // The only provider with the capability may differ from the one that stores the referenced
  // object.
  const able = owner.value === null ? null : requireCapability(owner.value.provider, capability);
  if (able !== null && !able.ok) return able;
  const bare = target?.model ?? named.value.model ?? provider.value.settings.default_model ?? null;
  if (bare === null && written !== "") {
    return refuse(
      "missing_required_parameter",
      "Name a model: the provider has no default_model to choose.",
      "model",
    );
  }
  const refused = refuseModel(key, provider.value.id, bare, target === null ? null : written) ??
    (answer.billing === "tokens"
      ? null
      : refuseUnpriced(key, generation.config, provider.value.id, bare) ??
        refuseUnknownCost(
          key,
          generation.config,
          { provider: provider.value, model: bare },
          "tokens",
        )) ??
    (steering === null
      ? null
      : refuseSteering(key, generation.config, provider.value.id, steering));
  if (refused !== null) return refused;
  const cut = cutSealed(document);
  return await callNative(call, {
    provider: provider.value,
    account: owner.value?.provider === provider.value ? owner.value.account : null,
    method: "POST",
    path: ["responses", name],
    body: withModel(document, bare, name === "input_tokens" ? target : null, cut),
    lossy: cut.lossy,
    model: bare,
    ...answer,
  });
}

/**
 * Returns the client's document with the bare model name, if it is known, and with the instructions
 * of the named model of a target, without the reasoning that is cut.
 */
function withModel(
  document: JsonDocument,
  model: string | null,
  target: RouteTarget | null,
  { edits }: CutReasoning,
): string {
  const { text, value, members } = document;
  const preset = target?.preset;
  const changes: readonly Entry[] = [
    ...model === null || value.model === model ? [] : [["model", JSON.stringify(model)] as const],
    ...preset === undefined ? [] : instructionEntries(document, preset),
  ];
  return changes.length + edits.length === 0
    ? text
    : splice(text, [...changeMembers(text.indexOf("{"), members, changes), ...edits]);
}
