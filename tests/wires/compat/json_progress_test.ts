import { newJsonProgress } from "../../../src/wires/compat/json_progress.ts";
import { assertEquals } from "../../support/assert.ts";
import { textPieces } from "../../support/pieces.ts";

function isWhole(text: string, size: number): boolean {
  const progress = newJsonProgress();
  for (const piece of textPieces(text, size)) progress.add(piece);
  return progress.isWhole();
}

const WHOLE = ["{}", " {} ", '{"a":{"b":[1,{}]}}', '{"a":"}"}', '{"a":"\\"}{","b":"\\\\"}'];
const OPEN = ["", " ", "{", '{"a":{}', '{"a":"}', '{"a":"\\"}', '{"a":"b\\\\\\"}', '"{}"', "7"];

Deno.test("an object is complete after its last brace, however its text is split", () => {
  for (const size of [1, 2, 3, 100]) {
    for (const text of WHOLE) assertEquals(isWhole(text, size), true, text);
    for (const text of OPEN) assertEquals(isWhole(text, size), false, text);
  }
});
