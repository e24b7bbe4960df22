import fc from "fast-check";
import { newLineReader } from "../../src/workers/lines.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("lines are the same for each way to cut their text into pieces", () => {
  const piece = fc.string({ unit: fc.constantFrom("a", "é", "\n"), maxLength: 8 });
  fc.assert(fc.property(fc.array(piece), (pieces) => {
    const reader = newLineReader(1_000);
    const lines = pieces.flatMap((text) => reader.push(text) ?? []);
    assertEquals([...lines, reader.rest()], pieces.join("").split("\n"));
  }));
});

Deno.test("a line above the limit ends the reading, also one that is not complete", () => {
  for (const pieces of [["aaaa", "aa"], ["aaaaaa\n"], ["a\nbbbbbb\nc"], ["a\nbbbbbb"]]) {
    const reader = newLineReader(5);
    assertEquals(pieces.map((text) => reader.push(text)).at(-1), null);
  }
});
