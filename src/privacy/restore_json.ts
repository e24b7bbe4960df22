import { newPrivacyCounts } from "../core/privacy_counts.ts";
import { newTokenText } from "./answer_text.ts";
import { finishText } from "./finish.ts";
import type { TokenMap } from "./types.ts";

/**
 * Returns a JSON text with the values of its tokens, as the client wrote them: the inverse of what
 * `replaceJson` does.
 */
export function restoreJson(text: string, tokens: TokenMap): string {
  return finishText(newTokenText(tokens, newPrivacyCounts()), text, "json");
}

/** The same for a text. */
export function restoreText(text: string, tokens: TokenMap): string {
  return finishText(newTokenText(tokens, newPrivacyCounts()), text, "plain");
}
