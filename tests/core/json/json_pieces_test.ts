import fc from "fast-check";
import { type JsonObject, type JsonValue, parseExact } from "../../../src/core/json/json.ts";
import { jsonPieces } from "../../../src/core/json/json_pieces.ts";
import { assert, assertEquals } from "../../support/assert.ts";

Deno.test("the pieces of an object are together the text of JSON.stringify", () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (written) => {
    const value = { ...written } as JsonObject;
    assertEquals([...jsonPieces(value)].join(""), JSON.stringify(value));
  }));
  assertEquals([...jsonPieces({})].join(""), "{}");
});

Deno.test("numbers that only text can hold are written as they came", () => {
  const text = '{"data":[{"n":1.10},12345678901234567890],"m":1e400}';
  const value = parseExact(text);
  assertEquals([...jsonPieces(value as JsonObject)].join(""), text);
});

Deno.test("each element of a list is one piece, so that no piece is the whole list", () => {
  const data = Array.from({ length: 100 }, (_, index) => ({ id: index, text: "x".repeat(1_000) }));
  const pieces = [...jsonPieces({ object: "list", data })];
  assert(Math.max(...pieces.map((piece) => piece.length)) < 1_100);
});

/**
 * Values that are longer than a piece: strings at each level, with all that JSON escapes, and many
 * members.
 */
const LONG_VALUES: readonly JsonObject[] = [
  { text: "x".repeat(100_000), after: 1 },
  { list: [{ part: { text: `\u0000"\\é`.repeat(20_000) } }, "y".repeat(50_000)] },
  {
    deep: Array.from({ length: 300 }).reduce<JsonValue>((inner) => [{ inner }], "z".repeat(40_000)),
  },
  { members: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`key ${at}`, at])) },
  { lists: Array.from({ length: 3_000 }, (_, at) => [[at], {}, []]), none: undefined },
  { keys: { ["k".repeat(30_000)]: { ["l".repeat(30_000)]: null } } },
];

Deno.test("the pieces of long strings and deep values are together the text of JSON.stringify", () => {
  for (const value of LONG_VALUES) {
    assert([...jsonPieces(value)].join("") === JSON.stringify(value));
  }
});

Deno.test("no piece is longer than the part of a string that is written in one piece, escaped", () => {
  const { keys: _, ...bounded } = Object.assign({}, ...LONG_VALUES);
  const sizes = [...jsonPieces(bounded)].map((piece) => piece.length);
  assert(Math.max(...sizes) <= 6 * 16 * 1024 + 10, String(Math.max(...sizes)));
});

Deno.test("a pair of surrogates at the end of a piece is not divided, and a single one is escaped", () => {
  for (const before of [16_382, 16_383, 16_384]) {
    const text = `${"x".repeat(before)}${"😀".repeat(20_000)}\ud83d`;
    assert([...jsonPieces({ text })].join("") === JSON.stringify({ text }), String(before));
  }
});
