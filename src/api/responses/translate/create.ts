import type { Outcome } from "../../../core/stream.ts";
import { newId } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import type { Candidate, Inference, ResponseHandler } from "../../../call/inference.ts";
import { encodeChatRequest } from "../../../wires/encode_chat_request.ts";
import { newStrictSchemas } from "../../../wires/verified/strict_schemas.ts";
import { pathsOf, type ResponsePromise } from "../../../wires/verified/response_promise.ts";
import type { Target, WireName } from "../../../wires/wire.ts";
import {
  findStoredReasoning,
  hasTarget,
  omittedAnywhere,
  reasoningAccount,
  storeReasoning,
} from "../../reasoning_memory.ts";
import { newTranslatedHandler } from "../../translated_handler.ts";
import { storedHistory } from "../state/continuation.ts";
import { unstoredPaths } from "../state/without_store.ts";
import type { Creation } from "../creation.ts";
import { encodeResponse, type EncoderLabels, newResponseEncoder } from "../generate/encoder.ts";
import { toChat, type TranslatedRequest } from "./to_chat.ts";

/**
 * Creates the candidates for targets without the Responses API: the gateway generates the response.
 * Targets that check signatures get the stored reasoning of tool calls whose reasoning the client
 * has not sent back; a pool of keys uses the account of that reasoning first.
 */
export async function translatedCandidates(
  creation: Creation,
): Promise<Pick<Inference, "prepare" | "reasoningAccount">> {
  const { call, request, context } = creation;
  const history = storedHistory(context.continuation).map((item) => ({ item, path: null }));
  const items = [...history, ...context.added];
  const translated = new Map<WireName, Result<TranslatedRequest>>();
  const schemas = newStrictSchemas();

  // Targets with the same wire share one translated request: they are those of one route.
  function chatFor({ wire: { name }, omitTools }: Target): Result<TranslatedRequest> {
    const chat = translated.get(name) ?? toChat(request, items, name, omitTools, schemas);
    translated.set(name, chat);
    return chat;
  }

  let stored: Pick<TranslatedRequest, "reasoning"> = {};
  const continuesCalls = context.added.some(({ item: { type } }) => type === "function_call");
  if (context.missing === null && continuesCalls && hasTarget(call, ["messages"])) {
    // The messages are the same whatever tools the route leaves out.
    const chat = toChat(request, items, "messages", omittedAnywhere(call));
    if (chat.ok) stored = await findStoredReasoning(call, chat.value.document.value.messages);
  }

  function prepare(target: Target): Result<Candidate> {
    if (context.missing !== null) return context.missing;
    const { wire } = target;
    const chat = chatFor(target);
    if (!chat.ok) return chat;
    const sent = wire.name === "messages" ? { ...chat.value, ...stored } : chat.value;
    const encoded = encodeChatRequest(sent, target);
    if (!encoded.ok) return chat.value.toClientPaths(encoded);
    const carried = encoded.value.lossy ?? [];
    const lossy = new Set([
      ...unstoredPaths(request),
      ...chat.value.lossy,
      ...carried.map((path) => chat.value.toClientPath(path)),
    ]);
    const promises = encoded.value.promises?.map((promise) => {
      return { ...promise, path: chat.value.toClientPath(promise.path) };
    });
    return success<Candidate>({
      target,
      request: encoded.value,
      ...lossy.size > 0 && { lossy: [...lossy] },
      ...promises !== undefined && { verified: pathsOf(promises) },
      // The upstream stores nothing: the gateway stores the response itself.
      hasSideEffects: false,
      ...request.store && { storage: "optional" },
      responseHandler: () => newResponseHandler(creation, chat.value, target, promises),
      onComplete: (outcome) => complete(creation, target, outcome),
    });
  }

  return { prepare, ...reasoningAccount(stored) };
}

async function complete(
  { call, storeOutcome }: Creation,
  target: Target,
  outcome: Outcome,
): Promise<Result<void>> {
  const stored = await storeOutcome(target, outcome);
  if (!stored.ok || outcome.reasoning === undefined) return stored;
  return await storeReasoning(call, target.account, outcome.reasoning);
}

function newResponseHandler(
  { call, request }: Creation,
  { namespaced }: TranslatedRequest,
  target: Target,
  promises: readonly ResponsePromise[] | undefined,
): ResponseHandler {
  const { world } = call;
  const { model } = target;
  const isSigned = target.wire.name === "messages";
  const labels: EncoderLabels = {
    id: newId("resp_", world),
    created: world.unix(),
    model,
    request,
    isSigned,
    namespaced,
    storesReasoning: isSigned && !includesEncrypted(request.document.value),
    newId: (prefix) => newId(prefix, world),
    unix: () => world.unix(),
  };
  return newTranslatedHandler({ call, target, isStream: request.stream, promises }, {
    newEncoder: () => newResponseEncoder(labels),
    encodeWhole(events) {
      const response = encodeResponse(events, labels);
      return response.ok ? success({ ...response.value, body: response.value.resource }) : response;
    },
  });
}

/** True if the client requests encrypted reasoning, which it then sends back. */
function includesEncrypted({ include }: JsonObject): boolean {
  return Array.isArray(include) && include.includes("reasoning.encrypted_content");
}
