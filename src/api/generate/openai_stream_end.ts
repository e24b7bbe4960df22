import { errorText, openaiError } from "../../core/failure/openai_error.ts";
import type { Failure } from "../../core/failure/failure.ts";
import type { StreamRecord } from "../../core/stream/reply.ts";

/** The last record of a stream of the OpenAI API whose events have no type. */
export const DONE: StreamRecord = { event: null, data: "[DONE]", raw: null };

/**
 * The record of a stream that broke after delivery began. It has no `choices`, because clients take
 * a record with `choices` for a chunk and lose the error.
 */
export const BROKEN: StreamRecord = {
  event: null,
  data: errorText({
    message: "The provider's stream broke off; the response is incomplete.",
    type: "upstream_error",
    param: null,
    code: "upstream_stream_error",
  }),
  raw: null,
};

/** The last records of such a stream that broke after delivery began. */
export const BROKEN_END: readonly StreamRecord[] = [BROKEN, DONE];

/** Returns the last records of such a stream to whose request nothing responded. */
export function failedEnd(failure: Failure): readonly StreamRecord[] {
  return [{ event: null, data: errorText(openaiError(failure).error), raw: null }, DONE];
}
