import { endOfValue } from "../core/json/scan.ts";

/** Name of a member with log probabilities, up to its value; a request has a flag there. */
const LOGPROBS = /"logprobs"\s*:\s*(?=[[{])/g;

/**
 * Returns the masked text of a response or of its events, with null for all log probabilities if
 * masking has changed anything or if the text was cut, so that what would show a match may be
 * missing: their tokens have the text once more, in pieces that no rule finds.
 */
export function withoutLogprobs(masked: string, text: string, isCut = false): string {
  if ((masked === text && !isCut) || !masked.includes('"logprobs"')) return masked;
  let written = "";
  let from = 0;
  for (const { index, 0: name } of masked.matchAll(LOGPROBS)) {
    if (index < from) continue;
    const value = index + name.length;
    written += `${masked.slice(from, value)}null`;
    from = endOfValue(masked, value);
  }
  return written + masked.slice(from);
}
