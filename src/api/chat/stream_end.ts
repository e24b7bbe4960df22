import { errorText } from "../../core/openai_error.ts";
import type { StreamRecord } from "../../core/reply.ts";

/** The last record of every stream. */
export const DONE: StreamRecord = { event: null, data: "[DONE]", raw: null };

/**
 * What a stream that broke after delivery began ends with. The error record has no `choices`:
 * clients that see some take it for a chunk and lose the error.
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
