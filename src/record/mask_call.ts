import type { Call } from "../call/call.ts";
import { type ClientKeyMask, newClientKeyMask } from "../access/client_key_mask.ts";
import { policyOf } from "../redaction/request.ts";
import { newPartMask, type PartMask } from "./mask_parts.ts";
import { maskingRules, maskText } from "./mask_text.ts";

/** Masks the parts of a call's record; in its bodies the rules have acted already. */
export interface CallMask extends PartMask {
  readonly clientKey: ClientKeyMask;
}

/** Returns what masks the parts of a call's record, besides its bodies by the privacy policy. */
export function newMask(call: Call): CallMask {
  // Not the rules that the call has begun with: it may have been refused before.
  const own = policyOf(call)?.request ?? [];
  const rules = maskingRules(own.filter(({ action }) => action !== "monitor"));
  const clientKey = newClientKeyMask(call);
  const mask = newPartMask((text) =>
    clientKey.text(rules.length === 0 ? text : maskText(text, rules))
  );
  return { ...mask, clientKey };
}
