import { hasMorePings } from "../../../src/runtime/connections/pings.ts";
import fc from "fast-check";
import { assert, assertEquals } from "../../support/assert.ts";

const PING_CODE = 0x89, PONG_CODE = 0x8a, TEXT_CODE = 0x81;
const FRAGMENT_CODE = 0x01, LAST_CODE = 0x80, MASK_BYTES = 4;

/** A frame of a client with a random mask and payload, and its length in any of the three forms. */
function frames(codes: fc.Arbitrary<number>) {
  const payloads = fc.uint8Array({ maxLength: 125 });
  return fc.tuple(codes, payloads, fc.uint8Array(exactly(MASK_BYTES)), fc.constantFrom(0, 2, 8))
    .map(([code, payload, mask, lengthBytes]) => [
      code,
      ...lengthOf(payload.length, lengthBytes),
      ...mask,
      ...payload,
    ]);
}

function lengthOf(payloadBytes: number, lengthBytes: number): readonly number[] {
  if (lengthBytes === 0) return [0x80 | payloadBytes];
  const first = lengthBytes === 2 ? 0xfe : 0xff;
  return [first, ...Array.from({ length: lengthBytes - 1 }, () => 0), payloadBytes];
}

function exactly(length: number) {
  return { minLength: length, maxLength: length };
}

Deno.test("pings are counted wherever the bytes begin, with any payloads, masks and other small frames between", () => {
  const some = fc.array(frames(fc.constant(PING_CODE)), { minLength: 1, maxLength: 20 });
  const other = frames(fc.constantFrom(TEXT_CODE, PONG_CODE, FRAGMENT_CODE, LAST_CODE));
  const mixed = fc.array(fc.tuple(some, fc.array(other, { maxLength: 3 })), exactly(150));
  fc.assert(
    fc.property(mixed, fc.nat(1_000), (all, start) => {
      const bytes = new Uint8Array(all.flat(3).slice(start));
      assert(hasMorePings(bytes, 64));
    }),
    { numRuns: 25 },
  );
});

Deno.test("pings behind a large beginning of a message are counted", () => {
  const ping = [PING_CODE, 0x80, 1, 2, 3, 4];
  const pings = Array.from({ length: 66 }, () => ping).flat();
  assert(hasMorePings(new Uint8Array([...new Uint8Array(10_000), ...pings]), 64));
});

Deno.test("small messages and pongs, with a few pings among them, are not many pings", () => {
  const other = frames(fc.constantFrom(TEXT_CODE, PONG_CODE));
  const some = fc.array(frames(fc.constant(PING_CODE)), { maxLength: 10 });
  fc.assert(
    fc.property(some, fc.array(other, exactly(400)), (pings, others) => {
      assert(!hasMorePings(new Uint8Array([...pings, ...others].flat()), 64));
    }),
    { numRuns: 25 },
  );
});

Deno.test("64 KiB of random bytes are not many pings", () => {
  fc.assert(
    fc.property(fc.uint8Array(exactly(64 * 1024)), (bytes) => {
      assert(!hasMorePings(bytes, 64));
    }),
    { numRuns: 25 },
  );
});

Deno.test("the last ping counts if another frame follows it", () => {
  const pings = (count: number) =>
    new Uint8Array(Array.from({ length: count }, () => [PING_CODE, 0x80, 1, 2, 3, 4]).flat());
  assertEquals(hasMorePings(pings(65), 64), false);
  assertEquals(hasMorePings(pings(66), 64), true);
  assertEquals(hasMorePings(new Uint8Array(), 0), false);
});
