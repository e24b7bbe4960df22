import fc from "fast-check";
import { newPrivacyCounts, type PrivacyCounts } from "../../src/core/privacy_counts.ts";
import { type AnswerText, newTokenText } from "../../src/privacy/answer_text.ts";
import type { TokenMap, TokenValue } from "../../src/privacy/types.ts";

/** Cores of tokens, and one of the same form that belongs to no value. */
export const CORES = {
  mail: "qzbadofikumapolosi",
  card: "qzrumitovasudugalo",
  key: "qzbadofikumapolosu",
  unknown: "qzbadofikumapoloso",
} as const;

/** A mail address, a card number and a key whose text must be escaped in JSON. */
export const VALUES: readonly TokenValue[] = [
  { core: CORES.mail, label: "email", value: "bob.miller@example.com" },
  { core: CORES.card, label: "card", value: "4111 1111 1111 1111" },
  { core: CORES.key, label: "iraq", value: 'a "quoted" \\ key\nof two lines' },
];

/** Returns the tokens of a call with these values. */
export function tokensOf(values: readonly TokenValue[]): TokenMap {
  const byCore = new Map(values.map((value) => [value.core, value]));
  return {
    size: byCore.size,
    get: (core) => byCore.get(core),
    values: () => byCore.values(),
  };
}

/** Returns the search of an answer whose request had these values, with its counts. */
export function answerOf(
  values: readonly TokenValue[] = VALUES,
): { readonly answer: AnswerText; readonly counts: PrivacyCounts } {
  const counts = newPrivacyCounts();
  return { answer: newTokenText(tokensOf(values), counts), counts };
}

/** A part of an answer, as the provider writes it and as the client gets it. */
export interface Word {
  readonly sent: string;
  readonly received: string;
  readonly isToken: boolean;
}

const CASES = [
  (text: string) => text,
  (text: string) => text.toUpperCase(),
  (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1),
  (text: string) =>
    [...text].map((letter, at) => at % 2 === 0 ? letter.toUpperCase() : letter).join(""),
];

/** Any letter case of a token, with its label or without it. */
export const anyToken: fc.Arbitrary<Word> = fc
  .tuple(fc.constantFrom(...VALUES), fc.constantFrom(...CASES), fc.boolean())
  .map(([{ core, label, value }, write, hasLabel]) => ({
    sent: write(hasLabel ? `${core}${label}` : core),
    received: value,
    isToken: true,
  }));

const NEAR_MISSES = [
  "q",
  "Q",
  "qz",
  "qqz",
  "qzb",
  "qzbadofi",
  "qzbadofikumapolos",
  "qzbadofikumapolo",
  CORES.unknown,
  "email",
  "iraq",
  "iraqz",
  "emai",
  "ca",
];

const plain: fc.Arbitrary<Word> = fc
  .oneof(
    fc.constantFrom(...NEAR_MISSES, " ", "\n", '"', "\\", "😀", "é", ".", "'s", "user_", "mailto:"),
    fc.string({ unit: "grapheme", maxLength: 6 }),
    fc.string({ unit: fc.constantFrom(..."qzbadoi "), maxLength: 12 }),
  )
  .map((text) => ({ sent: text, received: text, isToken: false }));

/**
 * Any text of an answer. What is around a token may begin no other one, so that it is known what
 * the client gets: a token between blanks, quotes or other letters.
 */
export const anyWords: fc.Arbitrary<readonly Word[]> = fc
  .array(fc.oneof(plain, anyToken), { maxLength: 12 })
  .filter(isClear);

/** True if no letters around a token make it another word. */
function isClear(words: readonly Word[]): boolean {
  const text = words.map(({ sent }) => sent).join("").toLowerCase();
  let at = 0;
  const expected: number[] = [];
  for (const { sent, isToken } of words) {
    if (isToken) expected.push(at);
    at += sent.length;
  }
  const found = VALUES.flatMap(({ core }) => [...text.matchAll(new RegExp(core, "g"))])
    .map(({ index }) => index).sort((a, b) => a - b);
  if (JSON.stringify(found) !== JSON.stringify(expected)) return false;
  // A label that is made of the text behind a bare core belongs to the token too.
  let start = 0;
  for (const { sent, isToken } of words) {
    const end = start + sent.length;
    const value = VALUES.find(({ core }) => core === sent.toLowerCase());
    if (isToken && value !== undefined && text.startsWith(value.label, end)) return false;
    start = end;
  }
  return true;
}

/** Any cut of a text into pieces, none of which is empty. */
export function cut(text: string, sizes: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = Math.max(1, sizes[turn % Math.max(1, sizes.length)] ?? text.length);
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

/** Sizes of the pieces of a text. */
export const anySizes: fc.Arbitrary<readonly number[]> = fc.array(fc.integer({ min: 1, max: 9 }), {
  minLength: 1,
  maxLength: 8,
});
