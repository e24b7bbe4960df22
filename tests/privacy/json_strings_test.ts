import fc from "fast-check";
import {
  newPositions,
  objectsOf,
  parseSteps,
  textOfString,
  walkJson,
  writePath,
} from "../../src/privacy/json_strings.ts";
import { parseExact } from "../../src/core/json/json.ts";
import { atOnce } from "../../src/core/at_once.ts";
import { assert, assertEquals } from "../support/assert.ts";

interface Seen {
  readonly kind: string;
  readonly path: string;
  readonly text: string;
}

function walked(text: string): Seen[] {
  const seen: Seen[] = [];
  const walk = walkJson(text, ({ kind, start, end }, path) => {
    const own = kind === "number" ? text.slice(start, end) : textOfString(text, start, end);
    seen.push({ kind, path: JSON.stringify(path), text: own });
  });
  while (walk.next().done !== true) { /* the whole text */ }
  return seen;
}

/** The same by way of the value. */
function expected(value: unknown, path: readonly (string | number)[] = []): Seen[] {
  const at = JSON.stringify(path);
  if (typeof value === "string") return [{ kind: "string", path: at, text: value }];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => expected(item, [...path, index]));
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, item]) => [
      { kind: "name", path: JSON.stringify([...path, key]), text: key },
      ...expected(item, [...path, key]),
    ]);
  }
  return [{ kind: "number", path: at, text: JSON.stringify(value) }];
}

Deno.test("the strings, names and numbers of any JSON text are found with their paths", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, space) => {
      assertEquals(
        walked(JSON.stringify(value, null, space)),
        expected(JSON.parse(JSON.stringify(value))),
      );
    }),
    { numRuns: 150 },
  );
});

Deno.test("a position in a string is found in its JSON text, whatever is escaped", () => {
  const escape = (character: string) =>
    fc.constantFrom(JSON.stringify(character).slice(1, -1), unicode(character));
  const pieces = fc.array(fc.constantFrom("a", "\n", '"', "\\", "é", "\u{1f600}", "@"), {
    maxLength: 20,
  }).chain((plain) => fc.tuple(...plain.map(escape)).map((raw) => ({ plain, raw })));
  fc.assert(fc.property(pieces, ({ plain, raw }) => {
    const text = `["${raw.join("")}"]`;
    const position = newPositions(text, 1, text.length - 1);
    let at = 0, rawAt = 2;
    for (const [index, one] of plain.entries()) {
      assertEquals(atOnce(position(at)), rawAt);
      at += one.length;
      rawAt += raw[index]?.length ?? 0;
    }
    assertEquals(atOnce(position(at)), rawAt);
  }));
});

function unicode(character: string): string {
  return Array.from(
    character.split(""),
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  ).join("");
}

Deno.test("a path is written as in error messages", () => {
  assertEquals(writePath(["messages", 0, "content", 1, "text"]), "messages[0].content[1].text");
});

Deno.test("a long string with escapes is decoded in pieces, wherever they are", () => {
  const parts = ["\n", '"', "\\", "\u{1f600}", "\u0001"];
  for (const part of parts) {
    for (let before = 0; before < 6; before++) {
      const string = "a".repeat(before) + part.repeat(200_000);
      const text = JSON.stringify([string]);
      const seen: string[] = [];
      let steps = 0;
      const walk = walkJson(
        text,
        (one) => seen.push(one.text ?? textOfString(text, one.start, one.end)),
        objectsOf([string]),
      );
      while (walk.next().done !== true) steps += 1;
      assertEquals(seen.join() === string, true);
      assert(steps >= text.length / 400_000, `${steps}`);
    }
  }
  const seen: string[] = [];
  const escaped = `["${"\\u0041".repeat(200_000)}"]`;
  const walk = walkJson(escaped, (token) => seen.push(token.text ?? ""), objectsOf(["A"]));
  while (walk.next().done !== true) { /* the whole text */ }
  assertEquals(seen.join() === "A".repeat(200_000), true);
});

Deno.test("a long text has the value in pieces that it has as a whole", () => {
  const blank = " ".repeat(1024 * 1024);
  const odd =
    '{"__proto__":{"x":1.0},"a\\n":[1e400,-0,12345678901234567890,true,false,null],"2":1,"1":{},"1":[]}';
  const texts = fc.oneof(fc.constant(odd), fc.json({ maxDepth: 5 }));
  fc.assert(
    fc.property(texts, (text) => {
      const value = atOnce(parseSteps(blank + text));
      assertEquals(JSON.stringify(value), JSON.stringify(parseExact(text)));
    }),
    { numRuns: 50 },
  );
  let steps = 0;
  const work = parseSteps(JSON.stringify(Array.from({ length: 300_000 }, (_, at) => at)));
  while (work.next().done !== true) steps += 1;
  assert(steps > 100, String(steps));
});
