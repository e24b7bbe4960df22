import { fault, type Result, success } from "../../../core/result.ts";
import { changeMembers, splice } from "../../../formats/edit.ts";
import type { Call } from "../../../call/call.ts";
import type { Candidate, ResponseHandler } from "../../../call/inference.ts";
import { newPayload } from "../../../wires/payload.ts";
import type { Target } from "../../../wires/wire.ts";
import { parseResponseDocument } from "../../response_document.ts";
import type { MessagesRequest } from "../request.ts";

/** Returns the count of a target with the same API: its response is passed on byte for byte. */
export function forwardedCount(
  _call: Call,
  { document, isBeta }: MessagesRequest,
  target: Target,
): Result<Candidate> {
  const { text, members } = document;
  const model = JSON.stringify(target.model);
  const body = () => splice(text, changeMembers(text.indexOf("{"), members, [["model", model]]));
  return success({
    target,
    request: {
      method: "POST",
      path: `/v1/messages/count_tokens${isBeta ? "?beta=true" : ""}`,
      payload: newPayload(body),
    },
    hasSideEffects: false,
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
      return fault("invalid_upstream_response", "The provider's answer holds no token count.");
    }
    return success({
      response: { status: 200, headers: answer.headers(), body: answer.body },
      outcome: { resource: null, usage: null },
    });
  },
};
