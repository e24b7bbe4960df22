import { parseJson } from "../core/json/json.ts";
import { hasMoreItems } from "../core/json/scan.ts";
import { atOnce } from "../formats/at_once.ts";
import type { Span } from "../formats/edit.ts";
import { sealedText } from "../formats/sealed_text.ts";
import { textOfString, walkJson } from "./json_strings.ts";

/** A signature of a provider in the JSON text of sealed thinking. */
const SIGNED = /(?<!\\)"signature":"[^"]/;

/** Maximum number of members and elements of sealed thinking; a request with more is refused. */
const MAX_ITEMS = 200_000;

/** Thinking that the gateway has sealed. */
export interface OpenedSeal {
  /** Its JSON text. */
  readonly text: string;
  /** True if a provider has signed it, so that a change would break it. */
  readonly isSigned: boolean;
}

/**
 * Opens thinking that the gateway has sealed, as it is opened for providers; null for other text.
 */
export function openSeal(sealed: string): OpenedSeal | null {
  const text = sealedText(sealed);
  if (text === null || hasMoreItems(text, MAX_ITEMS) || parseJson(text) === undefined) return null;
  return { text, isSigned: SIGNED.test(text) };
}

/** A string that is sealed, and its place in the JSON text of its seal. */
export interface SealedString extends Span {
  readonly text: string;
  readonly seal: OpenedSeal;
}

/** Returns the strings that are sealed in a text of the gateway and that no provider has signed. */
export function sealedStrings(sealed: string): readonly SealedString[] {
  const seal = openSeal(sealed);
  if (seal === null || seal.isSigned) return [];
  const strings: SealedString[] = [];
  atOnce(walkJson(seal.text, ({ kind, start, end }) => {
    if (kind !== "string") return;
    strings.push({ text: textOfString(seal.text, start, end), start, end, seal });
  }));
  return strings;
}
