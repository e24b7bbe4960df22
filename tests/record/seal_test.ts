import { newSealer } from "../../src/record/seal.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { KEY } from "./support.ts";

const TEXT = new TextEncoder().encode("the words of a client");

Deno.test("a sealed part is opened by its key, and has none of its text", () => {
  const sealer = newSealer([KEY]);
  const sealed = sealer.seal("record_head", 1, TEXT);
  assert(!new TextDecoder("latin1").decode(sealed).includes("words"));
  const opened = sealer.open("record_head", 1, sealed);
  assertEquals(opened.ok && new Uint8Array(opened.bytes), TEXT);
});

Deno.test("a sealed part with one changed bit is not opened", () => {
  const sealer = newSealer([KEY]);
  const sealed = sealer.seal("record_body", 1, TEXT);
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = sealed.slice();
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert(!sealer.open("record_body", 1, changed).ok, `bit ${bit}`);
  }
});

Deno.test("a part is not opened as another part, of another record, or cut", () => {
  const sealer = newSealer([KEY]);
  const sealed = sealer.seal("record_body", 1, TEXT);
  assert(!sealer.open("record_head", 1, sealed).ok);
  assert(!sealer.open("record_body", 2, sealed).ok);
  for (let length = 0; length < sealed.length; length++) {
    assert(!sealer.open("record_body", 1, sealed.slice(0, length)).ok, `${length} bytes`);
  }
});

Deno.test("the first key seals and all keys open; a missing key is named by its number", () => {
  const other = new Uint8Array(32).fill(9);
  const sealed = newSealer([KEY]).seal("record_head", 1, TEXT);
  assert(newSealer([other, KEY]).open("record_head", 1, sealed).ok);
  assertEquals(newSealer([other]).open("record_head", 1, sealed), {
    ok: false,
    keyNumber: sealed[1] ?? null,
  });
  assert(
    !newSealer([KEY]).open("record_head", 1, newSealer([other, KEY]).seal("record_head", 1, TEXT))
      .ok,
  );
});
