import { Buffer } from "node:buffer";
import fc from "fast-check";
import {
  oddBytesSteps,
  oddTextSteps,
  utf8Bytes,
  utf8Steps,
  utf8Text,
  utf8TextSteps,
} from "../../src/formats/utf8.ts";
import { anyCharacter } from "../support/any_character.ts";
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

Deno.test("a long text is encoded and decoded in pieces, whatever characters the cuts divide", () => {
  for (const piece of ["a", "é", "日", "😀", "x😀", "\ud83d", "\udc00"]) {
    const text = `b${piece.repeat(700_000)}`;
    const encoded = stepped(utf8Steps(text));
    assertEquals(Buffer.compare(encoded.value, utf8Bytes(text)), 0, piece);
    const decoded = stepped(utf8TextSteps(encoded.value));
    assertEquals(decoded.value === utf8Text(encoded.value), true, piece);
    assertEquals(encoded.count >= 2, true, `${encoded.count} ${piece}`);
    assertEquals(decoded.count >= encoded.value.length >> 20, true, `${decoded.count} ${piece}`);
  }
  const bytes = utf8Bytes("a".repeat(3_000_000));
  bytes[2_000_000] = 0x80;
  assertEquals(stepped(utf8TextSteps(bytes)).value, null);
});

Deno.test("any bytes have a text with its characters, from which they come back", () => {
  const parts = fc.array(
    fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.string({ unit: anyCharacter }).map(utf8Bytes)),
  );
  fc.assert(fc.property(parts, (parts) => {
    const bytes = Uint8Array.from(parts.flatMap((part) => [...part]));
    const text = stepped(oddTextSteps(bytes)).value;
    assertEquals(stepped(oddBytesSteps(text)).value, bytes);
    assertEquals(
      text.replace(/[\udc80-\udcff]+/gu, "\ufffd"),
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).replace(/\ufffd+/g, "\ufffd"),
    );
  }));
  for (const piece of ["a", "é", "😀", "x😀"]) {
    const bytes = Uint8Array.from([0xff, ...utf8Bytes(piece.repeat(30_000)), 0xff]);
    const { value, count } = stepped(oddTextSteps(bytes));
    assertEquals([value === `\udcff${piece.repeat(30_000)}\udcff`, count >= 2], [true, true]);
    assertEquals(Buffer.compare(stepped(oddBytesSteps(value)).value, bytes), 0, piece);
  }
});

/** Returns the value of work in pieces, and how many of them it had. */
function stepped<Value>(work: Generator<void, Value, void>) {
  for (let count = 0;; count++) {
    const step = work.next();
    if (step.done === true) return { value: step.value, count };
  }
}
