import fc from "fast-check";
import { inputOf, newInputReader } from "../../../src/api/generate/custom_input.ts";
import { anyCharacter } from "../../support/any_character.ts";
import { assert, assertEquals } from "../../support/assert.ts";

/** The text of arguments that arrive in these pieces. */
function joined(pieces: readonly string[]): string {
  const reader = newInputReader();
  const texts = pieces.map((piece) => reader.push(piece));
  for (const text of texts) assert(text.isWellFormed(), JSON.stringify(text));
  return texts.join("") + reader.end();
}

/** All ways to cut a text into three pieces, of which some may be empty. */
function* cuts(text: string): Generator<readonly string[]> {
  for (let first = 0; first <= text.length; first++) {
    for (let second = first; second <= text.length; second++) {
      yield [text.slice(0, first), text.slice(first, second), text.slice(second)];
    }
  }
}

const PATCH = "*** Begin Patch\n";

/** The text for each kind of arguments. */
const ROWS: Readonly<Record<string, string>> = {
  // An object with the text.
  '{"input":"*** Begin Patch\\n"}': PATCH,
  ' {\n"input" : "a" } ': "a",
  '{"input":""}': "",
  '{"input":"a","input":"b","more":[1]}': "a",
  '{"more":"b","input":"a\\n"}': "a\n",
  '{"\\u0069nput":"a"}': "a",
  // Every escape, and half characters.
  '{"input":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9"}': '"\\/\b\f\n\r\tA\u00e9',
  '{"input":"\\\\u0041\\\\"}': "\\u0041\\",
  '{"input":"\\uD83D\\uDE00\\ud83d\\ude00\u{1F600}"}': "\u{1F600}\u{1F600}\u{1F600}",
  '{"input":"\\uD83D\uDE00\uD83D\\uDE00"}': "\u{1F600}\u{1F600}",
  '{"input":"\\uD83D"}': "\uFFFD",
  '{"input":"\\uDE00a\\uD83Db\uD83D"}': "\uFFFDa\uFFFDb\uFFFD",
  // Not JSON, but what is meant can be read.
  '{"input":"line\nline\\q\\u12G4"}': "line\nline\\q\\u12G4",
  // No object with the text.
  '"*** Begin Patch\\n"': PATCH,
  [PATCH]: PATCH,
  "": "",
  "{}": "{}",
  '{"patch":"a"}': '{"patch":"a"}',
  '{"input":1}': '{"input":1}',
  '["a"]': '["a"]',
  "12": "12",
  '{"input"': '{"input"',
  "a \uD83D": "a \uFFFD",
  // Cut off.
  '{"input":"abc': "abc",
  '{"input":"abc\\': "abc",
  '{"input":"abc\\u00': "abc",
};

for (const [given, text] of Object.entries(ROWS)) {
  Deno.test(`the input in the arguments ${JSON.stringify(given)} is the same for all ways to split them`, () => {
    assertEquals(inputOf(given), text);
    for (const pieces of cuts(given)) assertEquals(joined(pieces), text, JSON.stringify(pieces));
    assertEquals(joined([...given].flatMap((character) => character.split(""))), text);
  });
}

Deno.test("any text is the same after it was written as arguments and split", () => {
  const anyText = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 60 }),
    fc.string({ unit: fc.constantFrom("\\", '"', "u", "D", "8", "\n", "\u{1F600}", "\uD83D") }),
  );
  const escapedFully = (text: string) =>
    `{"input":"${
      text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    }"}`;
  fc.assert(
    fc.property(anyText, fc.array(fc.nat(80)), fc.boolean(), (text, places, isEscaped) => {
      const given = isEscaped ? escapedFully(text) : JSON.stringify({ input: text });
      const bounds = [0, ...places.toSorted((one, other) => one - other), given.length];
      const pieces = bounds.map((at, index) => given.slice(at, bounds[index + 1] ?? at));
      assertEquals(joined(pieces), text.toWellFormed());
    }),
  );
});

Deno.test("escapes that JSON does not have are left as they are among very many others", () => {
  const text = "\\q\\u12g4\\x41\\\\n\\n\\u00e9";
  const wanted = "\\q\\u12g4\\x41\\n\n\u00e9";
  assertEquals(joined([`{"input":"${text.repeat(3_000)}"}`]), wanted.repeat(3_000));
});

Deno.test("the text is delivered as it arrives, except for what may be half of a character", () => {
  const reader = newInputReader();
  const steps: readonly (readonly [string, string])[] = [
    ['{"in', ""],
    ['put":"ab', "ab"],
    ["c\\", "c"],
    ["n\\u", "\n"],
    ["D83D\\uDE0", ""],
    ["0d", "\u{1F600}d"],
    ['e"', "e"],
    [',"f":"g"}', ""],
  ];
  for (const [piece, text] of steps) assertEquals(reader.push(piece), text);
  assertEquals([reader.isWhole(), reader.end(), reader.heldChars()], [true, "", 0]);
});

Deno.test("arguments with another beginning are held until they are whole", () => {
  const reader = newInputReader();
  assertEquals([reader.push('{"a'), reader.push('":1,')], ["", ""]);
  assertEquals([reader.isWhole(), reader.heldChars()], [false, 7]);
  assertEquals([reader.push('"input":"b"}'), reader.end(), reader.heldChars()], ["", "b", 0]);
});
