import { newId } from "../../../core/ids.ts";
import { isObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import type { Call } from "../../../call/call.ts";
import type { Candidate, Inference, ResponseHandler } from "../../../call/inference.ts";
import type { Optional } from "../../../prompt/refusals.ts";
import { encodeChatRequest } from "../../../wires/encode_chat_request.ts";
import { pathsOf, type ResponsePromise } from "../../../wires/verified/response_promise.ts";
import type { Target } from "../../../wires/wire.ts";
import {
  findStoredReasoning,
  hasTarget,
  omittedAnywhere,
  reasoningAccount,
  storeReasoning,
} from "../../reasoning_memory.ts";
import { newTranslatedHandler } from "../../translated_handler.ts";
import { CALL_ID_PREFIX } from "../generate/call_id.ts";
import { encodeMessage, type MessageLabels, newMessageEncoder } from "../generate/encoder.ts";
import type { MessagesRequest } from "../request.ts";
import { newChatTranslation, type TranslatedRequest } from "./to_chat.ts";

/**
 * Returns the preparation of a request for targets with another protocol. Targets with the
 * Responses API get the stored encrypted reasoning of earlier tool calls, which no block of a
 * client can hold; a pool of keys uses the account of that reasoning first.
 */
export async function translatedCandidates(
  call: Call,
  request: MessagesRequest,
): Promise<Pick<Inference, "prepare" | "reasoningAccount">> {
  const { translate, messages } = newChatTranslation(request);
  const stored = hasTarget(call, ["responses"]) && hasPastCalls(request.document.value.messages)
    ? await findStoredReasoning(call, messages("responses", omittedAnywhere(call)))
    : {};

  function prepare(target: Target): Result<Candidate> {
    const translated = translate(target);
    if (!translated.ok) return translated;
    const { chat, lossy, toClientPaths, clientPath, lossyPaths } = translated.value;
    const encoded = encodeChatRequest({ ...chat, ...stored }, target);
    if (!encoded.ok) return toClientPaths(encoded);
    const promises = encoded.value.promises?.map((promise) => {
      return { ...promise, path: clientPath(promise.path) };
    });
    return success<Candidate>({
      target,
      request: encoded.value,
      hasSideEffects: false,
      ...promises !== undefined && { verified: pathsOf(promises) },
      lossy: [...lossy, ...lossyPaths(encoded.value.lossy ?? [])],
      responseHandler: () => newResponseHandler(call, translated.value, target, promises),
      onComplete: ({ reasoning }) =>
        reasoning === undefined ? null : storeReasoning(call, target.account, reasoning),
    });
  }

  return { prepare, ...reasoningAccount(stored) };
}

/** True if an assistant message has a tool call. */
function hasPastCalls(messages: Optional): boolean {
  return Array.isArray(messages) &&
    messages.some((message) =>
      isObject(message) && Array.isArray(message.content) &&
      message.content.some((block) => isObject(block) && block.type === "tool_use")
    );
}

function newResponseHandler(
  call: Call,
  { chat: { stream }, thinking, toolName }: TranslatedRequest,
  target: Target,
  promises: readonly ResponsePromise[] | undefined,
): ResponseHandler {
  const { id, world } = call;
  const labels: MessageLabels = {
    // Clients take two responses with the same ID for one message.
    id: newId("msg_", world),
    requestId: id,
    model: target.model,
    thinking,
    storesReasoning: target.wire.name === "responses",
    toolName,
  };
  return newTranslatedHandler({ call, target, isStream: stream, promises }, {
    callIdPrefix: CALL_ID_PREFIX,
    newEncoder: () => newMessageEncoder(labels),
    encodeWhole: (events) => encodeMessage(events, labels),
  });
}
