import { newId } from "../../../core/ids.ts";
import { type Result, success } from "../../../core/result.ts";
import type { Call } from "../../../call/call.ts";
import type { Candidate, ResponseHandler } from "../../../call/inference.ts";
import { encodeChatRequest } from "../../../wires/encode_chat_request.ts";
import { pathsOf, type ResponsePromise } from "../../../wires/verified/response_promise.ts";
import type { Target } from "../../../wires/wire.ts";
import { newTranslatedHandler } from "../../translated_handler.ts";
import { CALL_ID_PREFIX } from "../generate/call_id.ts";
import { encodeMessage, type MessageLabels, newMessageEncoder } from "../generate/encoder.ts";
import type { MessagesRequest } from "../request.ts";
import { newChatTranslation, type TranslatedRequest } from "./to_chat.ts";

/** Returns a function that prepares a request for targets with another protocol. */
export function newTranslatedCandidates(
  call: Call,
  request: MessagesRequest,
): (target: Target) => Result<Candidate> {
  const translate = newChatTranslation(request);
  return (target) => {
    const translated = translate(target);
    if (!translated.ok) return translated;
    const { chat, lossy, toClientPaths, clientPath, lossyPaths } = translated.value;
    const encoded = encodeChatRequest(chat, target);
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
      onComplete: () => null,
    });
  };
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
    toolName,
  };
  return newTranslatedHandler({ call, target, isStream: stream, promises }, {
    callIdPrefix: CALL_ID_PREFIX,
    newEncoder: () => newMessageEncoder(labels),
    encodeWhole: (events) => encodeMessage(events, labels),
  });
}
