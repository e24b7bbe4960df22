import type { Finder } from "../types.ts";
import { CLOSING_QUOTE, ESCAPES, isDigit, isLetter, startOfRun } from "./characters.ts";
import { eachMatch } from "./each_match.ts";

/**
 * Text that may be before a key: the beginning, no part of a word, or the end of an escape. A
 * hyphen is no part of a word where a list or the removed line of a difference begins.
 */
const BEFORE = `(?:^|[^A-Za-z0-9-]|(?<![A-Za-z0-9])-|${ESCAPES})`;

/** Sources of the prefix of a key and of what follows it. */
type PrefixedKey = readonly [prefix: string, rest: string];

/** Returns the source of keys with a prefix. What precedes it is only looked at behind a prefix. */
function sourceOf([prefix, rest]: PrefixedKey): string {
  // Only a prefix that ends with a hyphen may be among words that hyphens join.
  const before = prefix.endsWith("-") ? BEFORE : `(?:-|${BEFORE})`;
  return `(?:${prefix})(?<=${before}(?:${prefix}))${rest}`;
}

const AWS: PrefixedKey = ["A(?:KIA|SIA|BIA|CCA)", "[A-Z0-9]{16}(?![A-Za-z0-9])"];

const GITHUB: readonly PrefixedKey[] = [
  ["gh[pousr]_", "[A-Za-z0-9]{36,255}"],
  ["github_pat_", "[A-Za-z0-9_]{22,255}"],
];

const SLACK: PrefixedKey = ["xox[abeoprs]-", "[A-Za-z0-9-]{10,250}"];

const PART = "[A-Za-z0-9_-]";

/**
 * First part of a signed token behind its `eyJ`. Behind such a sign the last beginning counts: if
 * each one read the whole run of such characters, the time would be their product.
 */
const HEADER = `(?:(?<![_-]eyJ)${PART}{8,680}|(?<=[_-]eyJ)(?:(?![_-]eyJ)${PART}){8,680})`;

/** Keys of services by their prefix, and signed tokens (RFC 7519). */
const SERVICES: readonly PrefixedKey[] = [
  ["sk-", `${PART}{20,200}`],
  ["AIza", `${PART}{35}`],
  ["[rsp]k_(?:live|test)_", "[A-Za-z0-9]{16,200}"],
  ["glpat-", `${PART}{20,64}`],
  ["npm_", "[A-Za-z0-9]{36}"],
  ["hf_", "[A-Za-z0-9]{30,64}"],
  ["gsk_", "[A-Za-z0-9]{40,64}"],
  ["pypi-", `${PART}{50,1000}`],
  ["eyJ", String.raw`${HEADER}\.eyJ${PART}{8,680}\.${PART}{8,680}`],
];

const ACCOUNT_KEY = "AccountKey=";

/**
 * A password in an address, which does not reach over the end of a quoted text. It may have an `@`
 * itself: many parsers take the last one.
 */
const PASSWORD = String
  .raw`(?:(?!${CLOSING_QUOTE})[^\s@\/\0\x01]){1,128}(?:@[A-Za-z0-9!#$%^*+._~-]{1,32}){0,2}`;

/** Keys by the name before them, and passwords in addresses. */
const NAMED = [
  `${ACCOUNT_KEY}(?<value>[A-Za-z0-9+/=]{40,200})`,
  String.raw`:\\?\/\\?\/[^"\s:@\/\0\x01]{0,64}:(?<password>${PASSWORD})@`,
];

/** Beginnings of keys. Passwords in addresses are no keys. */
export const KEY_PREFIX = new RegExp(
  [...[AWS, ...GITHUB, SLACK, ...SERVICES].map(([prefix]) => prefix), ACCOUNT_KEY].join("|"),
);

/** Returns a finder of what one expression of keys matches, or of its named part. */
function newKeyFinder(label: string, source: string, maxChars: number): Finder {
  const pattern = new RegExp(source, "g");
  return {
    label,
    maxChars,
    find(text, from, to, found) {
      eachMatch(pattern, text, from, to, ({ index, 0: { length }, groups }) => {
        const { value, password } = groups ?? {};
        const end = index + length - (password === undefined ? 0 : 1);
        found(end - (password ?? value ?? text.slice(index, end)).length, end);
        return true;
      });
    },
    heldFrom: (text) => startOfRun(text, maxChars, isKeyPart),
  };
}

const SIGNS: ReadonlySet<number> = new Set(new TextEncoder().encode("_-.+/=:@"));

function isKeyPart(code: number): boolean {
  return isDigit(code) || isLetter(code) || SIGNS.has(code);
}

/** Returns the finder of access key IDs of AWS. */
export function newAwsKeyFinder(label: string): Finder {
  return newKeyFinder(label, sourceOf(AWS), 20);
}

/** Returns the finder of tokens of GitHub; their checksum is not looked at. */
export function newGithubTokenFinder(label: string): Finder {
  return newKeyFinder(label, GITHUB.map(sourceOf).join("|"), 266);
}

/** Returns the finder of tokens of Slack. */
export function newSlackTokenFinder(label: string): Finder {
  return newKeyFinder(label, sourceOf(SLACK), 256);
}

/** The beginning of an address that may have a password, at the end of a text; its length. */
const OPEN_ADDRESS = new RegExp(
  String.raw`:\\?\/\\?\/[^\s:@/\0\x01]{0,64}(?::[^\s/\0\x01]{0,194})?$`,
);

const MAX_OPEN_CHARS = 264;

/** Returns the finder of keys of many services, signed tokens, and passwords in addresses. */
export function newApiKeyFinder(label: string): Finder {
  const finder = newKeyFinder(label, [...SERVICES.map(sourceOf), ...NAMED].join("|"), 2_048);
  return {
    ...finder,
    findsParts: true,
    heldFrom(text) {
      // A password may have any sign.
      const from = Math.max(0, text.length - MAX_OPEN_CHARS);
      const open = OPEN_ADDRESS.exec(text.slice(from));
      return Math.min(finder.heldFrom(text), open === null ? text.length : from + open.index);
    },
  };
}
