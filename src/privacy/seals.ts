import { parseJson } from "../core/json/json.ts";
import { hasMoreItems } from "../core/json/scan.ts";
import { atOnce } from "../core/at_once.ts";
import type { Span } from "../formats/edit.ts";
import { SEALED_PREFIX, sealedText } from "../core/stream/sealed_text.ts";
import { textOfString, walkJson } from "./json_strings.ts";

/** A signature of a provider in the JSON text of sealed thinking. */
const SIGNED = /(?<!\\)"signature":"[^"]/;

/**
 * Size of the largest seal that is opened, in characters, and number of its members and elements:
 * no model thinks so much, and it is opened in one piece.
 */
const MAX_SEALED_CHARS = 1024 * 1024, MAX_ITEMS = 4_096;

/** Thinking that the gateway has sealed. */
export interface OpenedSeal {
  /** Its JSON text. */
  readonly text: string;
  /** True if a provider has signed it, so that a change would break it. */
  readonly isSigned: boolean;
}

/**
 * Opens thinking that the gateway has sealed, as it is opened for providers; null for other text,
 * `too_large` for a seal that is not opened here.
 */
export function openSeal(sealed: string): OpenedSeal | "too_large" | null {
  if (!sealed.startsWith(SEALED_PREFIX)) return null;
  if (sealed.length > MAX_SEALED_CHARS) return "too_large";
  const text = sealedText(sealed);
  if (text === null) return null;
  if (hasMoreItems(text, MAX_ITEMS)) return "too_large";
  return parseJson(text) === undefined ? null : { text, isSigned: SIGNED.test(text) };
}

/** A string that is sealed, and its place in the JSON text of its seal. */
export interface SealedString extends Span {
  readonly text: string;
  readonly seal: OpenedSeal;
}

/**
 * Returns the strings that are sealed in a text of the gateway and that no provider has signed;
 * null for those of a seal that is too large.
 */
export function sealedStrings(sealed: string): readonly SealedString[] | null {
  const seal = openSeal(sealed);
  if (seal === "too_large") return null;
  if (seal === null || seal.isSigned) return [];
  const strings: SealedString[] = [];
  atOnce(walkJson(seal.text, ({ kind, start, end }) => {
    if (kind !== "string") return;
    strings.push({ text: textOfString(seal.text, start, end), start, end, seal });
  }));
  return strings;
}
