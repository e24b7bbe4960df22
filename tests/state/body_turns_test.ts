import { newBodyTurns } from "../../src/state/body_turns.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

/** Bodies with endless bytes, each of whose pieces takes `pieceMs`; returns the bodies of the pieces of each turn. */
async function piecesOfTurns(bodies: number, pieceMs: number, turns: number): Promise<number[][]> {
  let now = 0;
  let later: (() => void)[] = [];
  const bodyTurns = newBodyTurns({
    now: () => now,
    after: (_ms, task) => {
      later.push(task);
      return () => {};
    },
  });
  const pieces: number[][] = [];
  let isOver = false;
  const read = async (body: number) => {
    for (;;) {
      const turn = bodyTurns.next();
      if (turn !== null) await turn;
      if (isOver) return;
      pieces.at(-1)!.push(body);
      now += pieceMs;
      // Like the reader of a body, which has bytes at once.
      await Promise.resolve();
    }
  };
  pieces.push([]);
  const readers = Array.from({ length: bodies }, (_, body) => read(body));
  for (let turn = 0; turn < turns; turn++) {
    for (let i = 0; i < 2_000; i++) await Promise.resolve();
    pieces.push([]);
    const tasks = later;
    later = [];
    if (turn === turns - 1) isOver = true;
    for (const task of tasks) task();
  }
  while (later.length > 0) {
    const tasks = later;
    later = [];
    for (const task of tasks) task();
    for (let i = 0; i < 20; i++) await Promise.resolve();
  }
  await Promise.all(readers);
  return pieces.slice(0, turns);
}

Deno.test("pieces of 200 bodies take at most 4 ms or 2 pieces of one turn of the event loop", async () => {
  const turns = await piecesOfTurns(200, 2, 40);
  // The first pieces of all bodies are asked for before any of them takes time.
  for (const pieces of turns.slice(1)) assert(pieces.length <= 5, `${pieces.length}`);
  assert(turns.slice(1).every((pieces) => pieces.length >= 2));
});

Deno.test("bodies that wait for a turn go on in order of arrival", async () => {
  const turns = await piecesOfTurns(20, 5, 60);
  const counts = new Map<number, number>();
  for (const body of turns.flat()) counts.set(body, (counts.get(body) ?? 0) + 1);
  assertEquals(counts.size, 20);
  const values = [...counts.values()];
  assert(Math.max(...values) - Math.min(...values) <= 2, values.join());
});

Deno.test("a body whose pieces take no time never waits", () => {
  const world = scriptedWorld();
  const turns = newBodyTurns(world);
  for (let piece = 0; piece < 1_000; piece++) assertEquals(turns.next(), null);
});
