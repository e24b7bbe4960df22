import { isOnlyPings, MIN_SAMPLE_BYTES } from "../../../src/runtime/connections/pings.ts";
import fc from "fast-check";
import { assert, assertEquals } from "../../support/assert.ts";

const PING_CODE = 0x89, PONG_CODE = 0x8a, TEXT_CODE = 0x81, MASK_BYTES = 4;

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

/** A sample of these bytes that begins anywhere in them. */
function sample(bytes: readonly number[], start: number) {
  return new Uint8Array(bytes.slice(start, start + MIN_SAMPLE_BYTES));
}

Deno.test("pings are found wherever the bytes begin, with any payloads", () => {
  const many = fc.array(frames(fc.constant(PING_CODE)), exactly(400));
  fc.assert(
    fc.property(many, fc.nat(1_000), (pings, start) => {
      assert(isOnlyPings(sample(pings.flat(), start)));
    }),
    { numRuns: 200 },
  );
});

Deno.test("messages, pongs and pings among them are not only pings", () => {
  const other = frames(fc.constantFrom(TEXT_CODE, PONG_CODE));
  const some = fc.array(frames(fc.constant(PING_CODE)), { maxLength: 3 });
  fc.assert(
    fc.property(some, other, fc.array(other, exactly(400)), (pings, first, others) => {
      assertEquals(isOnlyPings(sample([...pings, first, ...others].flat(), 0)), false);
    }),
    { numRuns: 200 },
  );
});

Deno.test("any payload of a large message is not only pings", () => {
  fc.assert(
    fc.property(fc.uint8Array(exactly(MIN_SAMPLE_BYTES)), (bytes) => {
      assertEquals(isOnlyPings(bytes), false);
    }),
    { numRuns: 500 },
  );
});

Deno.test("a few pings alone are not a flood", () => {
  const ping = [PING_CODE, 0x80, 1, 2, 3, 4];
  assertEquals(isOnlyPings(new Uint8Array(Array.from({ length: 5 }, () => ping).flat())), false);
  assertEquals(isOnlyPings(new Uint8Array(Array.from({ length: 6 }, () => ping).flat())), true);
  assertEquals(isOnlyPings(new Uint8Array()), false);
});
