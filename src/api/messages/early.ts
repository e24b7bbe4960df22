import { failed } from "../../core/failure/result.ts";
import type { EarlyStream } from "../../call/inference.ts";
import type { Optional } from "../../prompt/refusals.ts";
import { earlyErrorRecord } from "./errors.ts";
import { ping } from "./generate/encoder.ts";
import { withUpstreamWords } from "./upstream_words.ts";

/**
 * Returns what a Messages stream says before a candidate has responded: pings, whatever the
 * upstream, because clients repeat a stream that fails after `message_start` with another request.
 * `maxTokens` is the token limit of the request.
 */
export function newEarlyMessage(id: string, maxTokens: Optional): EarlyStream {
  return {
    begin: () => [ping()],
    keepAlive: ping,
    fail(failure) {
      const worded = withUpstreamWords(failed(failure), maxTokens);
      return worded.ok ? [] : [earlyErrorRecord(worded.failure, id)];
    },
  };
}
