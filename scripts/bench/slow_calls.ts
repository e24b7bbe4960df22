import { libcPath } from "../../src/runtime/sockets.ts";
import type { CpuProfile } from "./profile.ts";
import { quantile } from "./report.ts";

/** A call, in microseconds of the clock that profiles have. */
export interface TimedCall {
  readonly beganUs: number;
  readonly endedUs: number;
}

/** The slow calls of all: those above p99. */
const MAX_SLOW_RATIO = 0.01;

const MONOTONIC_CLOCK_CODE = 1;

/** The clock of the profiles. */
export interface ProfileClock extends Disposable {
  nowUs(): number;
}

/** Opens the clock of the profiles; null where the C library has no such one. */
export function openProfileClock(): ProfileClock | null {
  const path = Deno.build.os === "linux" ? libcPath() : undefined;
  if (path === undefined) return null;
  const library = Deno.dlopen(path, {
    clock_gettime: { parameters: ["i32", "buffer"], result: "i32" },
  });
  const time = new BigInt64Array(2);
  return {
    nowUs() {
      library.symbols.clock_gettime(MONOTONIC_CLOCK_CODE, time);
      const [seconds = 0n, nanoseconds = 0n] = time;
      return Number(seconds) * 1e6 + Number(nanoseconds) / 1000;
    },
    [Symbol.dispose]: () => library.close(),
  };
}

/** Time of the main thread within a call, in microseconds. */
interface Work {
  readonly busyUs: number;
  readonly collectedUs: number;
}

/** Returns what the main thread did within each call of a list in which none overlaps another. */
function workIn(
  { nodes, samples, timeDeltas, startTime }: CpuProfile,
  calls: readonly TimedCall[],
): readonly Work[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName]));
  const works = calls.map(() => ({ busyUs: 0, collectedUs: 0 }));
  let [fromUs, call] = [startTime, 0];
  for (const [at, id] of samples.entries()) {
    // A sample holds until the next one.
    fromUs += timeDeltas[at] ?? 0;
    const untilUs = fromUs + (timeDeltas[at + 1] ?? 0);
    while ((calls[call]?.endedUs ?? Infinity) <= fromUs) call++;
    const name = names.get(id);
    if (name === "(idle)") continue;
    for (let next = call; (calls[next]?.beganUs ?? Infinity) < untilUs; next++) {
      const [one, work] = [calls[next], works[next]];
      if (one === undefined || work === undefined) break;
      const us = Math.min(untilUs, one.endedUs) - Math.max(fromUs, one.beganUs);
      if (us <= 0) continue;
      work.busyUs += us;
      if (name === "(garbage collector)") work.collectedUs += us;
    }
  }
  return works;
}

/**
 * Returns the report line of the slowest calls: how long they took, for how long the main thread
 * was busy within them, and in how many it collected garbage. Calls that take long while it is idle
 * wait for something else than its code.
 */
export function slowCallsLine(
  name: string,
  profile: CpuProfile,
  calls: readonly TimedCall[],
): string {
  const works = workIn(profile, calls);
  const all = calls.map(({ beganUs, endedUs }, at) => ({
    us: endedUs - beganUs,
    busyUs: works[at]?.busyUs ?? 0,
    isCollected: (works[at]?.collectedUs ?? 0) > 0,
  })).toSorted((one, other) => other.us - one.us);
  const count = Math.ceil(all.length * MAX_SLOW_RATIO);
  const texts = [all.slice(0, count), all.slice(count)].map((group) => {
    const ordered = group.map(({ busyUs }) => busyUs).toSorted((one, other) => one - other);
    const [median, most] = [0.5, 1].map((share) => ms(quantile(ordered, share)));
    const collected = group.filter(({ isCollected }) => isCollected).length;
    return `main thread busy for ${median} at p50 and at most ${most}, ${collected} with a ` +
      "garbage collection";
  });
  const [slowest = 0, fastest = 0] = [all[0]?.us, all[count - 1]?.us];
  return `profile ${name}: slowest ${count} calls of ${ms(fastest)} to ${ms(slowest)}: ` +
    `${texts[0]}; ${all.length - count} others: ${texts[1]}`;
}

function ms(us: number): string {
  return `${(us / 1000).toFixed(1)} ms`;
}
