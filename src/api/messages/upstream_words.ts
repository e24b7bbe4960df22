import { isRefusal } from "../../core/failure/failure.ts";
import { numberOf } from "../../core/json/json.ts";
import { failed, type Result } from "../../core/failure/result.ts";
import { TOKEN_LIMIT_ERRORS } from "../../data/host_errors.ts";
import type { Optional } from "../../prompt/refusals.ts";
import { SENTENCES } from "./sentences.ts";

/** A text about the token limit of a response. */
const ABOUT_MAX_TOKENS = /max_(?:completion_|output_)?tokens/;

const NUMBER = /\d{1,15}/g;

/**
 * Returns the message of another vendor's error. One about a token limit that is too large becomes
 * the sentence of the Messages API, by which clients lower the limit; `requested` is the limit of
 * the request, for a text that does not repeat it. Other messages are returned as received: clients
 * know the usual phrases for a prompt that is too long.
 */
export function upstreamWords(message: string, requested: Optional): string {
  if (!ABOUT_MAX_TOKENS.test(message)) return message;
  for (const { sentence } of TOKEN_LIMIT_ERRORS) {
    const { requested: stated, most } = sentence.exec(message)?.groups ?? {};
    if (most === undefined) continue;
    const above = stated ?? numberAbove(most, message, requested);
    if (above !== null) return `max_tokens: ${SENTENCES.maxTokens(above, most)}`;
  }
  return message;
}

/**
 * Returns the requested number: that of the request, else one in the text; null if none is above
 * `most`.
 */
function numberAbove(most: string, message: string, requested: Optional): string | null {
  const own = numberOf(requested);
  if (own !== null) return own > Number(most) ? String(own) : null;
  return message.match(NUMBER)?.find((number) => Number(number) > Number(most)) ?? null;
}

/**
 * Returns a failed reply with the upstream's message in the words that clients of this API know.
 */
export function withUpstreamWords<Reply>(reply: Result<Reply>, requested: Optional): Result<Reply> {
  if (reply.ok || isRefusal(reply.failure)) return reply;
  const { failure } = reply;
  const { upstream } = failure;
  const message = upstream?.error.message;
  if (upstream === null || typeof message !== "string") return reply;
  const error = { ...upstream.error, message: upstreamWords(message, requested) };
  return failed({ ...failure, upstream: { ...upstream, error } });
}
