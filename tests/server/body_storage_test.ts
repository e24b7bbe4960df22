import { newOneBuffer } from "../../src/server/body_storage.ts";
import { assertEquals } from "../support/assert.ts";

/** Returns a body of this size as it is stored when it arrives in pieces. */
function storedBody(fill: number, size: number, declared: number | null): Uint8Array {
  const storage = newOneBuffer(declared);
  for (let left = size; left > 0;) {
    const room = storage.room();
    const count = Math.min(room.length, left, 5_000);
    room.subarray(0, count).fill(fill);
    storage.filled(room.subarray(0, count));
    left -= count;
  }
  return storage.pieces()[0] ?? new Uint8Array();
}

Deno.test("a body in reused buffers has only its own bytes and shares none with an earlier body", () => {
  const bodies: (readonly [number, Uint8Array])[] = [];
  let fill = 0;
  for (const size of [300_000, 40_000, 16_384, 16_385, 1, 0, 262_144, 100_000, 200_000]) {
    for (const declared of [null, size]) {
      if (size === 0) continue;
      const body = storedBody(++fill, size, declared);
      assertEquals([body.length, body.buffer.byteLength], [size, size]);
      bodies.push([fill, body]);
    }
  }
  for (const [fill, body] of bodies) assertEquals(body.every((byte) => byte === fill), true);
});

Deno.test("a body that is appended is stored as it is", () => {
  const storage = newOneBuffer(null);
  const pieces = [10_000, 20_000, 70_000, 1].map((size, at) => new Uint8Array(size).fill(at));
  for (const piece of pieces) storage.append(piece);
  const [body = new Uint8Array()] = storage.pieces();
  assertEquals(body, Uint8Array.from(pieces.flatMap((piece) => [...piece])));
});
