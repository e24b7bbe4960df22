import { compileRules, type RuleSettings } from "../privacy/compile.ts";
import { newPartMask, type PartMask } from "./mask_parts.ts";
import { maskingRules, MaskingTimeout, maskText } from "./mask_text.ts";
import { redactCredentials } from "./redact_credentials.ts";

/**
 * Masking before a record is written: the rules of a policy of `privacy` with the time that
 * a record may take, or one of the built-in words.
 */
export type RecordPolicy =
  | "credentials"
  | "none"
  | { readonly rules: readonly RuleSettings[]; readonly maxMs: number };

/** Begins the masking of a record. Its functions throw if that takes too long. */
export type RecordMask = () => PartMask;

/** Returns what masks records by a policy; null if nothing is masked. `now` is in milliseconds. */
export function newRecordMask(policy: RecordPolicy, now: () => number): RecordMask | null {
  if (policy === "none") return null;
  if (policy === "credentials") {
    const mask = newPartMask(redactCredentials);
    return () => mask;
  }
  const rules = maskingRules(compileRules(policy.rules));
  return () => {
    const end = now() + policy.maxMs;
    const checkTime = () => {
      if (now() > end) throw new MaskingTimeout();
    };
    return newPartMask((text) => maskText(text, rules, checkTime));
  };
}
