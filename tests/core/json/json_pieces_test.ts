import fc from "fast-check";
import { type JsonObject, parseExact } from "../../../src/core/json/json.ts";
import { jsonPieces, stringChars } from "../../../src/core/json/json_pieces.ts";
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

Deno.test("the characters of all strings of a value are counted, at every level", () => {
  assertEquals(stringChars({ a: "four", b: [1, null, { c: "xyz" }, ["1"]] }), 8);
});
