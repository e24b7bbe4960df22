import fc from "fast-check";
import { type Line, newLineReader } from "../../src/workers/lines.ts";
import { assertEquals } from "../support/assert.ts";

/** The lines of the pieces, and the rest after the last line end. */
function linesOf(pieces: readonly string[], maxChars: number): readonly Line[] {
  const reader = newLineReader(maxChars);
  const lines = pieces.flatMap((piece) => reader.push(piece));
  const rest = reader.rest();
  return rest === null ? lines : [...lines, rest];
}

Deno.test("lines are the same for each way to cut their text into pieces, and only those above the limit are dropped", () => {
  const piece = fc.string({ unit: fc.constantFrom("a", "é", "\n"), maxLength: 8 });
  fc.assert(fc.property(fc.array(piece), fc.integer({ min: 1, max: 9 }), (pieces, maxChars) => {
    const expected = pieces.join("").split("\n");
    if (expected.at(-1) === "") expected.pop();
    assertEquals(
      linesOf(pieces, maxChars),
      expected.map((text): Line =>
        text.length > maxChars ? { kind: "dropped", chars: text.length } : { kind: "whole", text }
      ),
    );
  }));
});
