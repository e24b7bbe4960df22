import type { CpuProfile } from "../../../scripts/bench/profile.ts";
import { openProfileClock, slowCallsLine } from "../../../scripts/bench/slow_calls.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const NAMES = ["(root)", "(idle)", "(garbage collector)", "handle"];

/** A profile that begins at 1 s; each pair is a function and its time in milliseconds. */
function profileOf(...parts: readonly (readonly [name: string, ms: number])[]): CpuProfile {
  return {
    startTime: 1e6,
    nodes: NAMES.map((functionName, id) => ({ id, callFrame: { functionName, url: "" } })),
    samples: [...parts.map(([name]) => NAMES.indexOf(name)), 1],
    timeDeltas: [0, ...parts.map(([, ms]) => ms * 1000)],
  };
}

/** A call in milliseconds after the beginning of the profile. */
function call(from: number, to: number) {
  return { beganUs: 1e6 + from * 1000, endedUs: 1e6 + to * 1000 };
}

Deno.test("the slowest hundredth of the calls is printed with what the main thread did within them, and what in all faster ones", () => {
  const profile = profileOf(
    ["(idle)", 10],
    ["handle", 2],
    ["(garbage collector)", 3],
    ["(idle)", 5],
    ["handle", 4],
  );
  const others = Array.from({ length: 98 }, (_, at) => call(100 + at, 101 + at));
  assertEquals(
    slowCallsLine("one", profile, [call(8, 18), call(19, 22), ...others]),
    "profile one: slowest 1 calls of 10.0 ms to 10.0 ms: main thread busy for 5.0 ms at p50 and " +
      "at most 5.0 ms, 1 with a garbage collection; 99 others: main thread busy for 0.0 ms at " +
      "p50 and at most 2.0 ms, 0 with a garbage collection",
  );
});

Deno.test("the clock of the profiles runs in microseconds, and is missing without Linux's C library", () => {
  using clock = openProfileClock();
  assertEquals(clock !== null, Deno.build.os === "linux");
  if (clock === null) return;
  const [first, began] = [clock.nowUs(), performance.now()];
  while (performance.now() - began < 2);
  const us = clock.nowUs() - first;
  assert(us >= 1_000, `${us}`);
});
