import { SENTENCES } from "./sentences.ts";

/** A text about the token limit of a response. */
const ABOUT_MAX_TOKENS = /max_(?:completion_|output_)?tokens/;

/**
 * Texts of Chat servers that state the requested and the largest number of tokens. Digits are bounded,
 * so that each pattern takes time in proportion to the text.
 */
const TOO_LARGE = [
  /max_(?:completion_)?tokens is too large: (?<requested>\d{1,15})\. This model supports at most (?<most>\d{1,15}) completion tokens/,
  /expected a value <= (?<most>\d{1,15}), but got (?<requested>\d{1,15})/i,
];

/** A text that states the largest number, and the requested one elsewhere. */
const UPPER_LIMIT = /maximum value for `?max_tokens`? is less than or equal to `?(\d{1,15})/i;

const NUMBER = /\d{1,15}/g;

/**
 * Returns the message of another vendor's error. One about a token limit that is too large becomes
 * the sentence of the Messages API, by which clients lower the limit. Other messages are returned as
 * received: clients know the usual phrases for a prompt that is too long.
 */
export function upstreamWords(message: string): string {
  if (!ABOUT_MAX_TOKENS.test(message)) return message;
  const found = tooLarge(message) ?? aboveUpperLimit(message);
  if (found === null) return message;
  return SENTENCES.maxTokens(found.requested, found.most);
}

/** The requested and the largest number of tokens, as text. */
interface Limit {
  readonly requested: string;
  readonly most: string;
}

function tooLarge(message: string): Limit | null {
  for (const pattern of TOO_LARGE) {
    const { requested, most } = pattern.exec(message)?.groups ?? {};
    if (requested !== undefined && most !== undefined) return { requested, most };
  }
  return null;
}

function aboveUpperLimit(message: string): Limit | null {
  const most = UPPER_LIMIT.exec(message)?.[1];
  if (most === undefined) return null;
  const requested = message.match(NUMBER)?.find((number) => Number(number) > Number(most));
  return requested === undefined ? null : { requested, most };
}
