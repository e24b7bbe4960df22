import { newCorePattern } from "./token_form.ts";
import type { TokenMap } from "./types.ts";

/**
 * Returns a JSON text with the values of its tokens, as the client wrote them: the inverse of what
 * `replaceJson` does.
 */
export function restoreJson(text: string, tokens: TokenMap): string {
  const token = new RegExp(`(${newCorePattern().source})([a-z]*)`, "gi");
  return text.replace(token, (whole, core: string, behind: string) => {
    const known = tokens.get(core.toLowerCase());
    if (known === undefined) return whole;
    const hasLabel = behind.toLowerCase().startsWith(known.label);
    const rest = hasLabel ? behind.slice(known.label.length) : behind;
    return JSON.stringify(known.value).slice(1, -1) + rest;
  });
}
