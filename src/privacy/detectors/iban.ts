import type { Finder } from "../types.ts";
import { isBlank, isDigit, isLetter, isWordEnd, isWordStart, startOfRun } from "./characters.ts";
import { eachMatch } from "./each_match.ts";

/** Lengths of the numbers by country (ISO 13616, registry of 2025). */
const LENGTHS: ReadonlyMap<number, number> = new Map(
  ("AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 " +
    "DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 " +
    "IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 " +
    "MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 " +
    "SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30")
    .split(" ").map((entry) => [countryOf(entry, 0), Number(entry.slice(2))]),
);

/** Returns the two letters of a country as a number, whatever their case. */
function countryOf(text: string, start: number): number {
  return (text.charCodeAt(start) | 0x20) << 8 | text.charCodeAt(start + 1) | 0x20;
}

/** The longest number with a blank after each group of four. */
const MAX_CHARS = 42;

const BEGINNING = /[A-Z]{2}\d{2}(?=[ \u00a0\u202f]?[A-Z0-9])/gi;

/** Returns the finder of international bank account numbers, with single blanks or without. */
export function newIbanFinder(label: string): Finder {
  return {
    label,
    maxChars: MAX_CHARS,
    find(text, from, to, found) {
      eachMatch(BEGINNING, text, from, to, ({ index }) => {
        const end = isWordStart(text, index) ? endOfIban(text, index) : -1;
        if (end < 0) return false;
        found(index, end);
        return true;
      });
    },
    heldFrom: (text) =>
      startOfRun(text, MAX_CHARS, (code) => isDigit(code) || isLetter(code) || isBlank(code)),
  };
}

/** The digits and letters of a number as values from 0 to 35; only valid during a look at one. */
const VALUES = new Uint8Array(MAX_CHARS);

/** Returns where the number that begins at `start` ends; -1 if its check digits are wrong. */
function endOfIban(text: string, start: number): number {
  const length = LENGTHS.get(countryOf(text, start));
  if (length === undefined) return -1;
  let count = 0;
  let end = start;
  while (count < length) {
    const code = text.charCodeAt(end);
    if (isDigit(code)) VALUES[count++] = code - 48;
    else if (isLetter(code) && code < 128) VALUES[count++] = (code | 0x20) - 87;
    else if (!isBlank(code) || isBlank(text.charCodeAt(end - 1))) return -1;
    end++;
  }
  return isWordEnd(text, end) && isChecked(length) ? end : -1;
}

/** True if the check digits fit (ISO 7064, MOD 97-10), which are moved to the end. */
function isChecked(length: number): boolean {
  let rest = 0;
  for (let index = 0; index < length; index++) {
    const value = VALUES[(index + 4) % length] ?? 0;
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
