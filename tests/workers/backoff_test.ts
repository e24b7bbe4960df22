import { assertEquals } from "../support/assert.ts";
import {
  isHopeless,
  NO_RESTARTS,
  restartDelay,
  type Restarts,
  withEnd,
  type WorkerEnd,
} from "../../src/workers/backoff.ts";

function after(...ends: readonly WorkerEnd[]): Restarts {
  return ends.reduce(withEnd, NO_RESTARTS);
}

function served(ms: number): WorkerEnd {
  return { kind: "served", ms };
}

const NOT_STARTED: WorkerEnd = { kind: "not_started" };

Deno.test("the delay before a worker is restarted doubles from 100 ms to 10 s while it lives for short times", () => {
  const ends = Array.from({ length: 9 }, () => served(9_999));
  const delays = ends.map((_, index) => restartDelay(after(...ends.slice(0, index + 1))));
  assertEquals(delays, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
});

Deno.test("a worker that has served for 10 s begins again with the shortest delay", () => {
  const short = Array.from({ length: 6 }, () => served(5));
  assertEquals(restartDelay(after(...short, served(10_000))), 100);
});

Deno.test("a worker is hopeless after five starts in succession that fail, and not with one that served between", () => {
  const four = Array.from({ length: 4 }, () => NOT_STARTED);
  assertEquals(isHopeless(after(...four)), false);
  assertEquals(isHopeless(after(...four, NOT_STARTED)), true);
  assertEquals(isHopeless(after(...four, served(1), NOT_STARTED)), false);
  assertEquals(isHopeless(after(...Array.from({ length: 50 }, () => served(1)))), false);
});
