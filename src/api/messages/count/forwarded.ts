import { invalidResponse, type Result, success } from "../../../core/failure/result.ts";
import type { Call } from "../../../call/call.ts";
import type { Candidate, ResponseHandler } from "../../../call/inference.ts";
import { lostFields } from "../../../wires/prompt_encoder.ts";
import type { Target } from "../../../wires/wire.ts";
import { parseResponseDocument } from "../../stored/response_document.ts";
import { relayedBody } from "../relay/body.ts";
import { relayedHeaders } from "../relay/headers.ts";
import { systemEntries } from "../relay/preset.ts";
import { mayLackThinking, sealedBlocks, sealedPaths } from "../relay/sealed_blocks.ts";
import type { MessagesRequest } from "../request.ts";

/** Returns the count of a target with the same API: its response is passed on byte for byte. */
export function forwardedCount(
  { headers }: Call,
  { document, isBeta }: MessagesRequest,
  target: Target,
): Result<Candidate> {
  const sealed = sealedBlocks(document.value.messages);
  const isOff = target.isThinkingOff === true;
  return success({
    target,
    request: {
      method: "POST",
      path: `/v1/messages/count_tokens${isBeta ? "?beta=true" : ""}`,
      payload: relayedBody(document, target.model, systemEntries(document, target), sealed, isOff),
      ...relayedHeaders(headers, false),
      ...mayLackThinking(document.value, sealed) && { mayLackThinking: true },
      ...lostFields(sealedPaths(document.value, sealed, isOff), target),
    },
    hasSideEffects: false,
    billing: "tokens",
    responseHandler: () => COUNT_HANDLER,
    onComplete: () => null,
  });
}

const COUNT_HANDLER: ResponseHandler = {
  kind: "whole",
  read(answer) {
    const document = parseResponseDocument(answer);
    if (!document.ok) return document;
    if (!Number.isSafeInteger(document.value.value.input_tokens)) {
      return invalidResponse("The provider's response holds no token count.");
    }
    return success({
      response: {
        status: 200,
        headers: { ...answer.headers(), "content-type": "application/json" },
        body: answer.body,
      },
      outcome: { resource: null, usage: null },
    });
  },
};
