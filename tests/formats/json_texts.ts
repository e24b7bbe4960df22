import fc from "fast-check";
import { anyCharacter } from "../support/any_character.ts";

const blank = fc.constantFrom("", "", " ", "\n", "\t\r\n ");

/** A string as JSON text: each character plain where that is allowed, or escaped. */
export const stringTexts: fc.Arbitrary<string> = fc.array(
  fc.tuple(
    fc.oneof(anyCharacter, fc.constantFrom("", '"', "\\", "{", "]", ",")),
    fc.boolean(),
  ),
  { maxLength: 8 },
).map((parts) =>
  `"${parts.map(([text, escaped]) => escaped ? unicode(text) : plain(text)).join("")}"`
);

function plain(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function unicode(text: string): string {
  return text.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

const words = fc.oneof(
  fc.constantFrom("null", "true", "false", "-0", "1.0", "1E+2", "12345678901234567890"),
  fc.integer().map(String),
);

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    words,
    stringTexts,
    list("[", tie("value"), "]"),
    list(
      "{",
      fc.tuple(stringTexts, blank, tie("value")).map(([key, space, text]) =>
        key + space + ":" + text
      ),
      "}",
    ),
  ),
}));

function list(open: string, item: fc.Arbitrary<string>, close: string): fc.Arbitrary<string> {
  return fc.tuple(blank, fc.array(fc.tuple(blank, item, blank), { maxLength: 6 })).map(
    ([inside, items]) => open + inside + items.map((parts) => parts.join("")).join(",") + close,
  );
}

/** Any JSON text, with white space and escapes as a client may write them. */
export const valueTexts: fc.Arbitrary<string> = value;

const member = fc.tuple(stringTexts, blank, blank, value);

/** JSON objects whose top level may hold a key more than once. */
export const objectTextsWithRepeatedKeys: fc.Arbitrary<string> = objectText(
  fc.array(member, { maxLength: 8 }),
);

/** JSON objects whose top level holds each key once. */
export const objectTexts: fc.Arbitrary<string> = objectText(
  fc.uniqueArray(member, { maxLength: 8, selector: ([key]) => JSON.parse(key) }),
);

function objectText(
  members: fc.Arbitrary<[key: string, before: string, behind: string, value: string][]>,
): fc.Arbitrary<string> {
  return fc.tuple(blank, members, blank).map(([outside, parts, inside]) => {
    const written = parts.map(([key, before, behind, text]) =>
      `${before}${key}${behind}:${before}${text}${behind}`
    );
    return `${outside}{${inside}${written.join(",")}}${outside}`;
  });
}
