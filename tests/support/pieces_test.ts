import { assertEquals } from "./assert.ts";
import { connectionBodyOf, pieces, streamOf, textPieces } from "./pieces.ts";

Deno.test("bytes and texts are cut into pieces of a size, the last may be shorter", () => {
  assertEquals(pieces(Uint8Array.of(1, 2, 3), 2), [Uint8Array.of(1, 2), Uint8Array.of(3)]);
  assertEquals(textPieces("abc", 2), ["ab", "c"]);
  assertEquals(pieces(new Uint8Array(), 2), []);
});

Deno.test("a stream gives a piece a read to an ordinary reader", async () => {
  const parts = [Uint8Array.of(1, 2), Uint8Array.of(3)];
  assertEquals(await Array.fromAsync(streamOf(parts)), parts);
});

Deno.test("a stream gives a piece a read to a reader that brings its buffer", async () => {
  const reader = streamOf([Uint8Array.of(1, 2), Uint8Array.of(3)]).getReader({ mode: "byob" });
  const reads: (readonly number[])[] = [];
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(16));
    if (done) break;
    reads.push([...value]);
  }
  assertEquals(reads, [[1, 2], [3]]);
});

Deno.test("a stream without pieces is at its end at once", async () => {
  const { done } = await streamOf([]).getReader({ mode: "byob" }).read(new Uint8Array(4));
  assertEquals(done, true);
});

Deno.test("a body of a connection gives a piece a read, which the next read overwrites", async () => {
  const body = connectionBodyOf([Uint8Array.of(1, 2), Uint8Array.of(3)]);
  const first = await body.read();
  assertEquals(first, Uint8Array.of(1, 2));
  assertEquals(await body.read(), Uint8Array.of(3));
  assertEquals(first, Uint8Array.of(3, 2));
  assertEquals(await body.read(), null);
});
