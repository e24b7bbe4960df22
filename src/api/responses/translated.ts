import type { Outcome } from "../../core/stream/stream.ts";
import { newId } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Candidate, Inference, ResponseHandler } from "../../call/inference.ts";
import { encodePromptFor, newTargetCarrier } from "../../wires/prompt_encoder.ts";
import { newStrictSchemas } from "../../wires/verified/strict_schemas.ts";
import { isSigningHost } from "../../wires/compat/host_reasoning.ts";
import { shownModel, type Target } from "../../wires/wire.ts";
import {
  findForTargets,
  findTargets,
  reasoningAccount,
  type ReasoningByWire,
  storeReasoning,
} from "../reasoning/reasoning_memory.ts";
import { signerOf } from "../reasoning/host_seals.ts";
import { newTranslatedHandler, type ResponseChanges } from "../generate/translated_handler.ts";
import type { Creation } from "./creation.ts";
import { encodeResponse, type EncoderLabels, newResponseEncoder } from "./generate/encoder.ts";
import type { HistoryItem } from "./history_item.ts";
import { separateTools } from "./parse/additional_tools.ts";
import { parseMessages, parsePrompt, type ResponsesPrompt } from "./parse/parse_prompt.ts";
import { storedHistory } from "./state/continuation.ts";
import { dropStore } from "./state/without_store.ts";

/** Order of the top-level members of the text for Chat upstreams. */
export const CHAT_ORDER = [
  "model",
  "messages",
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "service_tier",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "max_completion_tokens",
  "reasoning_effort",
  "verbosity",
  "response_format",
  "tools",
  "parallel_tool_calls",
  "tool_choice",
];

/**
 * Creates the candidates for targets without the Responses API: the gateway generates the response.
 * Targets that check signatures get the stored reasoning of tool calls whose reasoning the client
 * has not sent back; a pool of keys uses the account of that reasoning first.
 */
export async function translatedCandidates(
  creation: Creation,
): Promise<Pick<Inference, "prepare" | "reasoningAccount">> {
  const { request, context } = creation;
  const history = storedHistory(context.continuation).map((item) => ({ item, path: null }));
  const items = [...history, ...context.added];
  const schemas = newStrictSchemas();
  const stored = await storedReasoning(creation, items);

  function prepare(target: Target): Result<Candidate> {
    if (context.missing !== null) return context.missing;
    const { wire: { name: wire } } = target;
    const carrier = newTargetCarrier(target);
    dropStore(request, carrier);
    const parsed = parsePrompt(request, items, { wire, carrier, ...stored.get(wire) });
    if (!parsed.ok) return parsed;
    const { prompt, namespaced } = parsed.value;
    const encoding = { target, carrier, schemas, chatOrder: CHAT_ORDER };
    const encoded = encodePromptFor(prompt, encoding);
    if (!encoded.ok) return encoded;
    const { promises, bridged, numbered } = encoded.value;
    return success<Candidate>({
      target,
      request: encoded.value,
      // The upstream stores nothing: the gateway stores the response itself.
      hasSideEffects: false,
      ...request.store && { storage: "optional" },
      responseHandler: () =>
        newResponseHandler(creation, namespaced, target, { promises, bridged, numbered }),
      onComplete: (outcome) => complete(creation, target, outcome),
    });
  }

  return { prepare, ...reasoningAccount(stored.values()) };
}

/**
 * Returns the stored reasoning of the calls that the request continues, for targets that check
 * signatures. Signatures of Chat hosts are also in the items of stored responses.
 */
async function storedReasoning(
  { call, request, context }: Creation,
  items: readonly HistoryItem[],
): Promise<ReasoningByWire> {
  const targets = findTargets(call, ["messages"]);
  const past = targets.some(isSigningHost) ? items : context.added;
  const continuesCalls = past.some(({ item: { type } }) =>
    type === "function_call" || type === "custom_tool_call"
  );
  const separated = separateTools(items);
  if (context.missing !== null || !continuesCalls || !separated.ok) return new Map();
  const { value } = separated;
  return await findForTargets(call, targets, (target) => {
    // The messages are the same for all targets with this protocol.
    const carrier = newTargetCarrier(target);
    const messages = parseMessages(request, value.items, { wire: target.wire.name, carrier });
    return messages.ok ? messages.value : [];
  });
}

async function complete(
  { call, storeOutcome }: Creation,
  target: Target,
  outcome: Outcome,
): Promise<Result<void>> {
  const stored = await storeOutcome(target, outcome);
  if (!stored.ok || outcome.reasoning === undefined) return stored;
  return await storeReasoning(call, target, outcome.reasoning);
}

function newResponseHandler(
  { call, request, identities }: Creation,
  namespaced: ResponsesPrompt["namespaced"],
  target: Target,
  changes: ResponseChanges,
): ResponseHandler {
  const { world } = call;
  const model = shownModel(target);
  const isSigned = target.wire.name === "messages";
  const signer = signerOf(target);
  const labels: EncoderLabels = {
    ...identities.next(),
    model,
    request,
    isSigned,
    signer,
    namespaced,
    storesReasoning: signer !== null || isSigned && !includesEncrypted(request.document.value),
    newId: (prefix) => newId(prefix, world),
    unix: () => world.unix(),
  };
  return newTranslatedHandler({ call, target, isStream: request.stream, ...changes }, {
    newEncoder: () => newResponseEncoder(labels),
    encodeWhole(events) {
      const response = encodeResponse(events, labels);
      return response.ok ? success({ ...response.value, body: response.value.resource }) : response;
    },
  });
}

/** True if the client has requested encrypted reasoning, which it then sends back. */
function includesEncrypted({ include }: JsonObject): boolean {
  return Array.isArray(include) && include.includes("reasoning.encrypted_content");
}
