import fc from "fast-check";
import { textOfTone, toneOf } from "../../../src/simulator/relay/tone.ts";
import { anyCharacter } from "../../support/any_character.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("the simulator hears in its tone what it has said, with its length", () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), (text) => {
    const written = text.toWellFormed().replace(/^\ufeff/, "");
    const bytes = new TextEncoder().encode(written).length;
    assertEquals(textOfTone(toneOf(written)), { text: written, seconds: bytes / 50 });
  }));
});

Deno.test("the simulator hears nothing in another file", () => {
  assertEquals(textOfTone(new TextEncoder().encode("RIFF of no tone at all")), null);
  assertEquals(textOfTone(new Uint8Array()), null);
});
