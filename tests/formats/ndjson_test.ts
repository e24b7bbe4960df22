import fc from "fast-check";
import { newNdjsonFraming } from "../../src/formats/ndjson.ts";
import { assertEquals } from "../support/assert.ts";
import { textPieces } from "../support/pieces.ts";
import { cut, rawOf, recordsOf } from "./framing_cases.ts";

function read(...texts: string[]) {
  return recordsOf(newNdjsonFraming(), texts);
}

Deno.test("each line is a record without a name", () => {
  assertEquals(read('{"a":1}\n{"b":2}\n'), [
    { event: null, data: '{"a":1}', raw: '{"a":1}\n' },
    { event: null, data: '{"b":2}', raw: '{"b":2}\n' },
  ]);
});

Deno.test("a CR before the LF is not part of the data", () => {
  assertEquals(read("{}\r", "\n"), [{ event: null, data: "{}", raw: "{}\r\n" }]);
});

Deno.test("a blank line is a record without data", () => {
  const records = read("\n{}\n\r\n  \n{}\n\n");
  assertEquals(records.map(({ data }) => data), ["", "{}", "", "", "{}", ""]);
  assertEquals(rawOf(records), "\n{}\n\r\n  \n{}\n\n");
});

Deno.test("the end of the source completes a last line without a line feed", () => {
  const framing = newNdjsonFraming();
  assertEquals(framing.push('{"done":'), []);
  framing.push("true}");
  assertEquals(framing.held(), 13);
  assertEquals(framing.end(), [{ event: null, data: '{"done":true}', raw: '{"done":true}' }]);
  assertEquals(framing.held(), 0);
  assertEquals(framing.end(), []);
});

const line = fc.json({ maxDepth: 1 });

Deno.test("a text split into any pieces gives the same records", () => {
  const lines = fc.array(line).chain((texts) =>
    fc.constantFrom("\n", "\r\n").map((end) => texts.map((text) => text + end).join(""))
  );
  fc.assert(fc.property(lines, fc.array(fc.nat(80)), (text, places) => {
    const whole = read(text);
    assertEquals(rawOf(whole), text);
    assertEquals(read(...cut(text, places)), whole);
    assertEquals(read(...textPieces(text, 1)), whole);
  }));
});

Deno.test("a line of 4 MiB may arrive one character at a time", () => {
  const framing = newNdjsonFraming();
  const size = 4 * 1024 * 1024;
  for (let count = 0; count < size; count++) framing.push("1");
  assertEquals(framing.push("\n")[0]?.data.length, size);
});
