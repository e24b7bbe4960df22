import { errorText } from "../../core/openai_error.ts";
import type { StreamRecord } from "../../core/reply.ts";

/** The last record of every stream. */
export const DONE: StreamRecord = { event: null, data: "[DONE]", raw: null };

/**
 * The last records of a stream that broke after delivery began. The error record has no `choices`,
 * because clients take a record with `choices` for a chunk and lose the error.
 */
export const BROKEN: readonly StreamRecord[] = [
  {
    event: null,
    data: errorText({
      message: "The upstream's stream broke off; the answer is incomplete.",
      type: "upstream_error",
      param: null,
      code: "upstream_stream_error",
    }),
    raw: null,
  },
  DONE,
];
