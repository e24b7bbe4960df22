import { type Result, success } from "../../core/failure/result.ts";
import { notCarried } from "../../prompt/carry.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { ResponsePromise } from "./response_promise.ts";

/** Maximum number of stop texts of a request that are searched for in its response. */
const MAX_STOPS = 16;

/**
 * Maximum length of a stop text that is searched for: its search takes memory for each character.
 */
const MAX_STOP_CHARS = 4_096;

/** Stop texts of a request, by who ends the response at them. */
export interface StopTexts {
  /** Texts that the upstream receives. */
  readonly sent: readonly string[];
  /** Texts that the gateway searches for. */
  readonly promises: readonly ResponsePromise[];
}

/** Who ends a response at a stop text. */
export interface StopRules {
  /** True for a text that the protocol can carry. */
  readonly isSent: (text: string) => boolean;
  /** False if the gateway must not search for the other texts; then they are refused. */
  readonly verify: boolean;
}

/**
 * Returns the stop texts of a prompt. Those that the protocol lacks are searched for in the
 * response. A Refusal names an empty text, and the field if there are too many to search for.
 */
export function splitStops(
  stop: Prompt["stop"],
  { isSent, verify }: StopRules,
): Result<StopTexts> {
  if (stop === null) return success({ sent: [], promises: [] });
  const sent: string[] = [];
  const texts: string[] = [];
  for (const { value: text, at } of stop.value) {
    if (text === "") return notCarried(at, "A stop sequence must not be empty.");
    const isUpstream = isSent(text);
    if (!isUpstream && !verify) {
      return notCarried(at, "A stop text needs a visible character, or 'verify: true'.");
    }
    if (!isUpstream && text.length > MAX_STOP_CHARS) {
      return notCarried(at, `Send at most ${MAX_STOP_CHARS} characters.`);
    }
    (isUpstream ? sent : texts).push(text);
  }
  if (texts.length > MAX_STOPS) return notCarried(stop.at, `Send at most ${MAX_STOPS} texts.`);
  return success({
    sent,
    promises: texts.length === 0 ? [] : [{ kind: "stop", path: stop.at.path, texts }],
  });
}
