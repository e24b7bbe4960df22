import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type { Prompt } from "../../prompt/prompt.ts";

/** Maximum number of stop texts of a request that are searched for in its response. */
const MAX_STOPS = 16;

/**
 * Maximum length of a stop text that is searched for: its search takes memory for each character.
 */
const MAX_STOP_CHARS = 4_096;

/** Who ends a response at a stop text. */
export interface StopRules {
  /** True for a text that the protocol can carry. */
  readonly isSent: (text: string) => boolean;
  /** False if the gateway must not search for the other texts; then they are refused. */
  readonly verify: boolean;
  readonly carrier: Carrier;
}

/**
 * Returns the stop texts of a prompt that the protocol can carry. For all other ones the gateway
 * searches in the response. A Refusal names an empty text, and the field if there are too many.
 */
export function sentStops(
  stop: Prompt["stop"],
  { isSent, verify, carrier }: StopRules,
): Result<readonly string[]> {
  if (stop === null) return success([]);
  const sent: string[] = [];
  const texts: string[] = [];
  for (const { value: text, at } of stop.value) {
    if (text === "") return carrier.refuse(at, "A stop sequence must not be empty.");
    const isUpstream = isSent(text);
    if (!isUpstream && !verify) {
      return carrier.refuse(at, "A stop text needs a visible character, or 'verify: true'.");
    }
    if (!isUpstream && text.length > MAX_STOP_CHARS) {
      return carrier.refuse(at, `Send at most ${MAX_STOP_CHARS} characters.`);
    }
    (isUpstream ? sent : texts).push(text);
  }
  if (texts.length > MAX_STOPS) return carrier.refuse(stop.at, `Send at most ${MAX_STOPS} texts.`);
  if (texts.length > 0) carrier.promise({ kind: "stop", path: stop.at.path, texts });
  return success(sent);
}
