import type { Call } from "../call/call.ts";
import { policyOf } from "../call/privacy.ts";
import { newPartMask, type PartMask } from "./mask_parts.ts";
import { maskingRules, maskText } from "./mask_text.ts";

/**
 * Returns what masks the parts of a call's record besides its body, in which the rules have acted
 * already. They stay as they are without a privacy policy.
 */
export function newMask(call: Call): PartMask {
  // Not the rules that the call has begun with: it may have been refused before.
  const own = policyOf(call)?.request ?? [];
  const rules = maskingRules(own.filter(({ action }) => action !== "monitor"));
  return newPartMask((text) => rules.length === 0 ? text : maskText(text, rules));
}
