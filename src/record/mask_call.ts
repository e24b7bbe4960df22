import { decodeHeaderText, encodeHeaderText } from "../core/header_fields.ts";
import type { Call } from "../call/call.ts";
import { policyOf } from "../call/privacy.ts";
import { maskingRules, maskText } from "./mask_text.ts";

/** Masks what a record has of a request besides its body, in which the rules have acted already. */
export interface CallMask {
  text(text: string): string;
  header(value: string): string;
  /** Masks the query of a URL without its question mark. */
  query(query: string): string;
}

/** Returns what masks the texts of a call by its privacy policy; they stay without one. */
export function newMask(call: Call): CallMask {
  // Not the rules that the call has begun with: it may have been refused before.
  const rules = maskingRules(policyOf(call)?.request ?? []);
  const mask = (text: string) => rules.length === 0 ? text : maskText(text, rules);

  function maskPart(part: string): string {
    const text = decodedPart(part);
    const masked = mask(text);
    // Of the first equals sign, which ends the name.
    return masked === text ? part : encodeURIComponent(masked).replace("%3D", "=");
  }

  return {
    text: mask,
    header(value) {
      const text = decodeHeaderText(value);
      const masked = mask(text);
      return masked === text ? value : encodeHeaderText(masked);
    },
    query: (query) => query.split("&").map(maskPart).join("&"),
  };
}

/** Returns a part of a query as text; as it is if its encoding is no text. */
function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll("+", " "));
  } catch {
    return part;
  }
}
