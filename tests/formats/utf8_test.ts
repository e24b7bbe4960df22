import { utf8Text } from "../../src/formats/utf8.ts";
import { assertEquals } from "../support/assert.ts";

const encoder = new TextEncoder();

/** Lengths around the one from which texts of ASCII are decoded in another way. */
const LENGTHS = [0, 1, 65_535, 65_536, 65_537, 200_000];

Deno.test("texts of every length are decoded as they were encoded", () => {
  for (const length of LENGTHS) {
    for (const piece of ["a", "\0", "\x7f", "é", "\ufeff", "😀"]) {
      const text = piece.repeat(length);
      assertEquals(utf8Text(encoder.encode(text)) === text, true, `${length} ${piece}`);
      const mixed = `${"a".repeat(length)}${piece}`;
      assertEquals(utf8Text(encoder.encode(mixed)) === mixed, true, `${length} a, ${piece}`);
    }
  }
});

Deno.test("bytes that are not UTF-8 have no text, however long it is", () => {
  for (const length of LENGTHS) {
    for (const odd of [[0x80], [0xc3], [0xed, 0xa0, 0x80], [0xff]]) {
      const bytes = new Uint8Array(length + odd.length).fill(97);
      bytes.set(odd, length >> 1);
      assertEquals(utf8Text(bytes), null, `${length} ${odd}`);
    }
  }
});

Deno.test("a part of a buffer is decoded without the bytes around it", () => {
  const bytes = encoder.encode("x".repeat(80_000));
  assertEquals(utf8Text(bytes.subarray(10, 70_010)), "x".repeat(70_000));
});
