import { Cancellation } from "../../src/core/cancellation.ts";
import type { StreamRecord } from "../../src/core/stream/reply.ts";
import { streamBody } from "../../src/server/stream_body.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

const PIECE_BYTES = 64 * 1024;

/** The body of a stream with records of this length, and how many of them were read. */
function bodyOf(count: number, chars: number) {
  const world = scriptedWorld();
  const cancellation = new Cancellation();
  let taken = 0;
  let isWhole: boolean | null = null;
  async function* records(): AsyncGenerator<readonly StreamRecord[], void, void> {
    while (taken < count) {
      await Promise.resolve();
      yield [{ event: null, data: "", raw: String(taken++).padEnd(chars, "x") }];
    }
  }
  const body = streamBody({ records: records() }, {
    world,
    cancellation,
    flusher: { soon: (task) => void world.after(1, task), cancel() {} },
    pingMs: 0,
    onEnd: (ending) => void (isWhole = ending.isWhole),
  });
  return { world, cancellation, body, taken: () => taken, isWhole: () => isWhole };
}

Deno.test("a large record is passed in pieces as its client takes them, before the next one is read", async () => {
  const chars = 20 * PIECE_BYTES;
  const stream = bodyOf(3, chars);
  const reader = stream.body.getReader();
  const pieces: Uint8Array[] = [];
  const takenAt: number[] = [];
  for (;;) {
    await stream.world.advance(1);
    takenAt.push(stream.taken());
    const { value } = await reader.read();
    if (value === undefined) break;
    pieces.push(value);
  }
  assert(pieces.every(({ length }) => length === PIECE_BYTES));
  assertEquals(takenAt.slice(0, 18), Array(18).fill(1));
  assertEquals([pieces.length, stream.taken(), stream.isWhole()], [60, 3, true]);
  const starts = pieces.map(([first]) => String.fromCharCode(first ?? 0)).join("");
  assertEquals(starts, ["0", "1", "2"].map((number) => number.padEnd(20, "x")).join(""));
});

Deno.test("a shutdown passes on what was read of a stream, and ends it", async () => {
  const stream = bodyOf(1, 10 * PIECE_BYTES);
  await stream.world.advance(1);
  stream.cancellation.cancel(null);
  assertEquals((await new Response(stream.body).bytes()).length, 10 * PIECE_BYTES);
  assertEquals(stream.isWhole(), true);
});
