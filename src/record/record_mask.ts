import { mayHaveKey } from "../privacy/detectors/likely_keys.ts";
import { compileRules, type RuleSettings } from "../privacy/compile.ts";
import { newPartMask, type PartMask } from "./mask_parts.ts";
import { maskEvents } from "./mask_events.ts";
import {
  type CheckTime,
  type MaskingRule,
  maskingRules,
  MaskingTimeout,
  maskText,
  matchesInString,
  withoutBegunMatch,
} from "./mask_text.ts";
import { CREDENTIAL_RULES, redactCredentials } from "./redact_credentials.ts";
import { rawStreamTexts } from "./stream_texts.ts";

/**
 * Masking before a record is written: the rules of a policy of `privacy` with the time that
 * a record may take, or one of the built-in words.
 */
export type RecordPolicy =
  | "credentials"
  | "none"
  | { readonly rules: readonly RuleSettings[]; readonly maxMs: number };

/** Masks the parts of a record. Its functions throw if that takes too long. */
export interface BegunMask extends PartMask {
  /** Masks a text that may have been cut at its end. */
  body(text: string, isCut: boolean): string;
  /**
   * Masks the events of a stream, which may have been cut, by the rules of its texts and also by
   * further ones of what may lie over several events.
   */
  events(text: string, isCut: boolean, further: readonly MaskingRule[]): string;
}

/** Begins the masking of a record. */
export type RecordMask = () => BegunMask;

/** Returns what masks records by a policy. `now` is in milliseconds. */
export function newRecordMask(policy: RecordPolicy, now: () => number): RecordMask {
  if (policy === "none") return always(newMask({ rules: [], mask: (text) => text }));
  if (policy === "credentials") {
    const [rules, mask] = [CREDENTIAL_RULES, redactCredentials];
    return always(newMask({ rules, mask, mayMatch: mayHaveKey }));
  }
  const rules = maskingRules(compileRules(policy.rules));
  return () => {
    const end = now() + policy.maxMs;
    const checkTime = () => {
      if (now() > end) throw new MaskingTimeout();
    };
    return newMask({ rules, mask: (text) => maskText(text, rules, checkTime), checkTime });
  };
}

/**
 * False only for a text without a match, whose escapes of JSON are as the rules know them: a second
 * backslash is of JSON in the text.
 */
function mayHaveMatch(text: string, rules: readonly MaskingRule[]): boolean {
  return rules.length > 0 && (/\\[\\u]/.test(text) || matchesInString(text, rules).length > 0);
}

function always(mask: BegunMask): RecordMask {
  return () => mask;
}

function newMask(
  { rules, mask, mayMatch, checkTime }: {
    readonly rules: readonly MaskingRule[];
    readonly mask: (text: string) => string;
    /** False only for a text without a match: the rules take longer. */
    readonly mayMatch?: (text: string) => boolean;
    readonly checkTime?: CheckTime;
  },
): BegunMask {
  const body = (text: string, isCut: boolean) =>
    mask(isCut && rules.length > 0 ? withoutBegunMatch(text, rules) : text);
  return {
    ...newPartMask(mask),
    body,
    events(text, isCut, further) {
      const all = [...further, ...rules];
      const isMasked = all.length > 0 &&
        (isCut ||
          rawStreamTexts(text)?.some((one) =>
              (rules.length > 0 && mayMatch?.(one) !== false) || mayHaveMatch(one, further)
            ) !== false);
      return body(isMasked ? maskEvents(text, all, isCut, checkTime) : text, isCut);
    },
  };
}
