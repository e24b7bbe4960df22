import { newPrivacyCounts } from "../core/privacy_counts.ts";
import { newTokenText } from "./answer_text.ts";
import { textSteps } from "./finish.ts";
import { atOnce } from "./pace.ts";
import type { TokenMap } from "./types.ts";

/**
 * Returns a JSON text with the values of its tokens, as the client wrote them: the inverse of what
 * `replaceJson` does.
 */
export function restoreJson(text: string, tokens: TokenMap): string {
  return atOnce(textSteps(newTokenText(tokens, newPrivacyCounts()), text, "json"));
}
