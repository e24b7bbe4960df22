import { refuse, success } from "../../../src/core/failure/result.ts";
import { newDecodeEach } from "../../../src/store/records/decode_each.ts";
import { assertEquals } from "../../support/assert.ts";

const RECORD_BYTES = 200 * 1024;

/** A decoder of which each record takes a millisecond, and the pauses that it has made. */
function timedDecoder() {
  let time = 1_000;
  const pauses: number[] = [];
  const decodeEach = newDecodeEach({
    now: () => time,
    after(ms, task) {
      pauses.push(ms);
      time += ms;
      queueMicrotask(task);
      return () => {};
    },
  });
  return {
    pauses,
    decodeAll(count: number, decode: (record: number) => void, bytes = RECORD_BYTES) {
      const records = Array.from({ length: count }, (_, number) => number);
      return decodeEach(records, () => bytes, (record) => {
        time += 1;
        decode(record);
        return success(record);
      });
    },
  };
}

Deno.test("a large object is decoded in pieces of 512 KiB, each with a pause of twice its time", async () => {
  const { pauses, decodeAll } = timedDecoder();
  const decodedAtPause: number[] = [];
  const decoded = await decodeAll(9, () => decodedAtPause.push(pauses.length));
  assertEquals(decoded, success([0, 1, 2, 3, 4, 5, 6, 7, 8]));
  assertEquals(decodedAtPause, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
  assertEquals(pauses, [6, 6]);
});

Deno.test("a small object is decoded without a pause", async () => {
  const { pauses, decodeAll } = timedDecoder();
  let decoded = 0;
  const decoding = decodeAll(100, () => void decoded++, 1_000);
  assertEquals(decoded, 100);
  assertEquals([(await decoding).ok, pauses], [true, []]);
});

Deno.test("of several large objects one piece is decoded at a time", async () => {
  const { decodeAll } = timedDecoder();
  const order: string[] = [];
  const one = decodeAll(6, (record) => void order.push(`a${record}`));
  const other = decodeAll(6, (record) => void order.push(`b${record}`));
  await Promise.all([one, other]);
  assertEquals(order.join(" "), "a0 a1 a2 b0 b1 b2 a3 a4 a5 b3 b4 b5");
});

Deno.test("an object of one large record waits for the pause of another one", async () => {
  const { pauses, decodeAll } = timedDecoder();
  const all = Array.from({ length: 3 }, () => decodeAll(1, () => {}, 512 * 1024));
  await Promise.all(all);
  assertEquals(pauses, [2, 2]);
});

Deno.test("the first record that cannot be decoded ends the decoding of its object", async () => {
  const decoded: number[] = [];
  const records = Array.from({ length: 9 }, (_, number) => number);
  const decodeEach = newDecodeEach({ now: () => 0, after: () => () => {} });
  const result = await decodeEach(records, () => RECORD_BYTES, (record) => {
    decoded.push(record);
    return record === 1 ? refuse("invalid_value", "broken") : success(record);
  });
  assertEquals(result, refuse("invalid_value", "broken"));
  assertEquals(decoded, [0, 1, 2]);
});
