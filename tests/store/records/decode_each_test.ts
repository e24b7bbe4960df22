import { refuse, success } from "../../../src/core/failure/result.ts";
import { decodeEach } from "../../../src/store/records/decode_each.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const RECORD_BYTES = 200 * 1024;

function decodeAll(count: number, decode: (record: number) => void, bytes = RECORD_BYTES) {
  const records = Array.from({ length: count }, (_, number) => number);
  return decodeEach(records, () => bytes, (record) => {
    decode(record);
    return success(record);
  });
}

Deno.test("a large object is decoded in pieces of 512 KiB, and other work has its turn between them", async () => {
  const pieces: number[] = [0];
  let isOver = false;
  const decoding = decodeAll(9, () => pieces[pieces.length - 1]! += RECORD_BYTES);
  const over = decoding.then(() => isOver = true);
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (pieces.at(-1) !== 0) pieces.push(0);
  }
  await over;
  assert(Math.max(...pieces) < 512 * 1024 + RECORD_BYTES, pieces.join());
  assertEquals(await decoding, success([0, 1, 2, 3, 4, 5, 6, 7, 8]));
});

Deno.test("a small object is decoded without a pause", async () => {
  let decoded = 0;
  const decoding = decodeAll(100, () => void decoded++, 1_000);
  assertEquals(decoded, 100);
  assertEquals((await decoding).ok, true);
});

Deno.test("of several large objects one piece is decoded at a time", async () => {
  const order: string[] = [];
  const one = decodeAll(6, (record) => void order.push(`a${record}`));
  const other = decodeAll(6, (record) => void order.push(`b${record}`));
  await Promise.all([one, other]);
  assertEquals(order.join(" "), "a0 a1 a2 b0 b1 b2 a3 a4 a5 b3 b4 b5");
});

Deno.test("the first record that cannot be decoded ends the decoding of its object", async () => {
  const decoded: number[] = [];
  const records = Array.from({ length: 9 }, (_, number) => number);
  const result = await decodeEach(records, () => RECORD_BYTES, (record) => {
    decoded.push(record);
    return record === 1 ? refuse("invalid_value", "broken") : success(record);
  });
  assertEquals(result, refuse("invalid_value", "broken"));
  assertEquals(decoded, [0, 1, 2]);
});
