import { Cancellation } from "../../src/core/cancellation.ts";
import { type Result, success } from "../../src/core/failure/result.ts";
import {
  MAX_CLIENT_READS,
  MAX_CONCURRENT_READS,
  newReadTurns,
} from "../../src/store/read_turns.ts";
import { assertEquals } from "../support/assert.ts";

/** Turns, with reads that end by number. */
function scriptedReads() {
  const turns = newReadTurns();
  const began: number[] = [];
  const ends: ((result: Result<number>) => void)[] = [];
  const read = (number: number, client = `${number}`, cancellation = new Cancellation()) =>
    turns(client, cancellation, () => {
      began.push(number);
      return new Promise<Result<number>>((resolve) => ends.push(resolve));
    });
  return { read, began, end: (index: number) => ends[index]?.(success(index)) };
}

Deno.test("four whole objects are read at the same time, and further ones in the order of their calls", async () => {
  const { read, began, end } = scriptedReads();
  const reads = Array.from({ length: MAX_CONCURRENT_READS + 3 }, (_, number) => read(number));
  await Promise.resolve();
  const first = Array.from({ length: MAX_CONCURRENT_READS }, (_, number) => number);
  assertEquals(began, first);
  for (let number = 0; number < reads.length; number++) {
    end(number);
    await reads[number];
    // The next one begins after the response of this one is made.
    assertEquals(began.length, Math.min(reads.length, MAX_CONCURRENT_READS + number));
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  assertEquals(began, reads.map((_, number) => number));
});

Deno.test("a client with one read waits for none of another one with very many", async () => {
  const { read, began, end } = scriptedReads();
  const many = Array.from({ length: 100 }, (_, number) => read(number, "busy"));
  await Promise.resolve();
  assertEquals(began, Array.from({ length: MAX_CLIENT_READS }, (_, number) => number));
  const others = [read(100, "one"), read(200, "two"), read(300, "three")];
  await Promise.resolve();
  // The last turn is free for it; two and three have the next ones, before the busy client.
  assertEquals(began.at(-1), 100);
  for (const at of [0, 1]) {
    end(at);
    await many[at];
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  assertEquals(began.slice(-2), [200, 300]);
  for (let at = 2; at < many.length + others.length; at++) {
    end(at);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  assertEquals((await Promise.all([...many, ...others])).length, 103);
});

Deno.test("a cancelled call leaves the queue, and its object is never read", async () => {
  const { read, began, end } = scriptedReads();
  const running = Array.from({ length: MAX_CONCURRENT_READS }, (_, number) => read(number));
  const cancellation = new Cancellation();
  const left = read(100, "leaving", cancellation);
  const next = read(101);
  await Promise.resolve();
  cancellation.clientDisconnected();
  const result = await left;
  assertEquals(result.ok ? null : result.failure.kind, "client_cancelled");
  for (let number = 0; number < running.length; number++) end(number);
  await Promise.all(running);
  await new Promise((resolve) => setTimeout(resolve, 0));
  end(MAX_CONCURRENT_READS);
  await next;
  assertEquals(began.includes(100), false);
});

Deno.test("a read that throws gives its turn back", async () => {
  const turns = newReadTurns();
  for (let count = 0; count < 2 * MAX_CONCURRENT_READS; count++) {
    const thrown = turns("c", new Cancellation(), () => Promise.reject(new Error("a bug")));
    assertEquals(await thrown.then(() => "ok", () => "thrown"), "thrown");
  }
});
