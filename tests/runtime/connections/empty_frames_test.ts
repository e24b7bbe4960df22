import { hasMoreEmptyFrames } from "../../../src/runtime/connections/empty_frames.ts";
import fc from "fast-check";
import { assert, assertEquals } from "../../support/assert.ts";

const PING_CODE = 0x89, PONG_CODE = 0x8a, TEXT_CODE = 0x81;
const FIRST_CODE = 0x01, NEXT_CODE = 0x00, LAST_CODE = 0x80, MASK_BYTES = 4;
const PING = [PING_CODE, 0x80, 1, 2, 3, 4];

/** A frame with a random payload, its length in any of the three forms, and a mask or none. */
function frames(codes: fc.Arbitrary<number>, maxLength = 125) {
  const masks = fc.oneof(fc.uint8Array(exactly(MASK_BYTES)), fc.constant(new Uint8Array()));
  return fc.tuple(codes, fc.uint8Array({ maxLength }), masks, fc.constantFrom(0, 2, 8))
    .map(([code, payload, mask, lengthBytes]) => [
      code,
      ...lengthOf(payload.length, lengthBytes, mask.length > 0 ? 0x80 : 0),
      ...mask,
      ...payload,
    ]);
}

function lengthOf(payloadBytes: number, lengthBytes: number, maskCode: number): readonly number[] {
  if (lengthBytes === 0) return [maskCode | payloadBytes];
  const zeros = Array.from({ length: lengthBytes - 1 }, () => 0);
  return [maskCode | (lengthBytes === 2 ? 126 : 127), ...zeros, payloadBytes];
}

function exactly(length: number) {
  return { minLength: length, maxLength: length };
}

function repeated(bytes: readonly number[], length = 10_000): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => bytes[at % bytes.length] ?? 0);
}

Deno.test("of frames of any kind, cut anywhere, each empty one that begins after the cut is counted", () => {
  const empty = fc.oneof(
    frames(fc.constantFrom(PING_CODE, PONG_CODE)),
    frames(fc.constantFrom(FIRST_CODE, NEXT_CODE), 15),
  );
  const other = frames(fc.constantFrom(TEXT_CODE, LAST_CODE), 140);
  const kinds = fc.oneof(
    empty.map((bytes) => ({ bytes, isEmpty: true })),
    other.map((bytes) => ({ bytes, isEmpty: false })),
  );
  fc.assert(
    fc.property(fc.array(kinds, exactly(200)), fc.nat(1_000), (all, start) => {
      let begin = 0, count = 0;
      for (const { bytes, isEmpty } of all) {
        if (isEmpty && begin >= start) count++;
        begin += bytes.length;
      }
      const bytes = new Uint8Array(all.flatMap((one) => one.bytes).slice(start));
      assert(hasMoreEmptyFrames(bytes, count - 1), `${count} are not found`);
    }),
    { numRuns: 25 },
  );
});

/** Pongs whose masks begin like a ping that ends after other pings. */
const DECOY = [PONG_CODE, 0x80, 0x89, 0xff, 1, 1, PING_CODE, 0x80, 1, 2, 3, 255];
const HIDDEN = Array.from({ length: 43 }, () => PING).flat();
const FLOODS = {
  "pings": PING,
  "pings without a mask": [PING_CODE, 0],
  "pings with and without a mask": [...PING, PING_CODE, 0],
  "pings behind masks that look like one": [...DECOY, ...HIDDEN],
  "pongs": [PONG_CODE, 0x80, 1, 2, 3, 4],
  "pongs without a mask": [PONG_CODE, 0],
  "large pongs": [PONG_CODE, 0xfd, 1, 2, 3, 4, ...Array.from({ length: 125 }, () => 7)],
  "empty fragments": [NEXT_CODE, 0x80, 1, 2, 3, 4],
  "fragments of 15 bytes": [NEXT_CODE, 0x8f, 1, 2, 3, 4, ...Array.from({ length: 15 }, () => 7)],
  "pings between small fragments": [...PING, NEXT_CODE, 0x81, 1, 2, 3, 4, 0x30],
};
for (const [name, bytes] of Object.entries(FLOODS)) {
  Deno.test(`a flood is found: ${name}`, () => {
    for (const start of [0, 1, 3, 5]) {
      assert(hasMoreEmptyFrames(repeated(bytes).subarray(start), 64), `from ${start}`);
    }
  });
}

Deno.test("a flood is found between other bytes, whatever they are", () => {
  const flood = repeated(PING, 66 * PING.length);
  const some = fc.uint8Array({ maxLength: 20_000 });
  fc.assert(
    fc.property(some, some, (before, after) => {
      assert(hasMoreEmptyFrames(new Uint8Array([...before, ...flood, ...after]), 64));
    }),
    { numRuns: 25 },
  );
});

const WORDS =
  "the gateway looks at each message that a client has sent and counts what it may send, " +
  "because a long text must not wait for others; then it answers, or says why it does not";

/** English text that does not repeat itself, under a mask. */
function text(mask: readonly number[]): Uint8Array {
  const words = WORDS.split(" ");
  const all = Array.from(
    { length: 16_000 },
    (_, at) => words[(at * at + (at >> 3)) % words.length],
  );
  const bytes = new TextEncoder().encode(all.join(" ")).subarray(0, 64 * 1024);
  return bytes.map((byte, at) => byte ^ (mask[at % MASK_BYTES] ?? 0));
}

for (const mask of [[0xcf, 0x4c, 0xd9, 0xa9], [0xf8, 0x24, 0xe1, 0xec], [0xae, 0xff, 0xe5, 0xef]]) {
  Deno.test(`a text under the mask ${mask} is no flood`, () => {
    assert(!hasMoreEmptyFrames(text(mask), 64));
  });
}

Deno.test("small messages, with a few pings among them, are no flood", () => {
  const other = frames(fc.constant(TEXT_CODE));
  const some = fc.array(frames(fc.constant(PING_CODE)), { maxLength: 10 });
  fc.assert(
    fc.property(some, fc.array(other, exactly(400)), (pings, others) => {
      assert(!hasMoreEmptyFrames(new Uint8Array([...pings, ...others].flat()), 64));
    }),
    { numRuns: 25 },
  );
});

Deno.test("64 KiB of random bytes are no flood", () => {
  fc.assert(
    fc.property(fc.uint8Array(exactly(64 * 1024)), (bytes) => {
      assert(!hasMoreEmptyFrames(bytes, 64));
    }),
    { numRuns: 25 },
  );
});

Deno.test("more than the number are many, and fragments of 16 bytes are not empty", () => {
  assertEquals(hasMoreEmptyFrames(repeated(PING, 64 * PING.length), 64), false);
  assertEquals(hasMoreEmptyFrames(repeated(PING, 65 * PING.length), 64), true);
  assertEquals(hasMoreEmptyFrames(new Uint8Array(), 0), false);
  const fragment = [
    NEXT_CODE,
    0x90,
    0x30,
    0x30,
    0x30,
    0x30,
    ...Array.from({ length: 16 }, () => 0x30),
  ];
  assertEquals(hasMoreEmptyFrames(repeated(fragment), 64), false);
});
