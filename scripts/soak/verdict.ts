import type { Holdings } from "./gateway_process.ts";
import type { LoadResult } from "./load.ts";
import { fitLastHalf, type MemorySample } from "./memory.ts";
import type { Gauges } from "./metrics.ts";

/** Everything that a soak has measured. */
export interface SoakRun {
  /** Minutes of load. */
  readonly minutes: number;
  readonly load: LoadResult;
  /** Names of all kinds of use. */
  readonly kinds: readonly string[];
  /** Number of reloads that were requested, and of those with a broken file. */
  readonly requestedReloads: { readonly whole: number; readonly broken: number };
  /** Memory and handles of the idle gateway before the load, and after it. */
  readonly before: Holdings;
  readonly after: Holdings;
  readonly gauges: Gauges;
  /** Bytes in use after a garbage collection, without compiled code. */
  readonly live: readonly MemorySample[];
  readonly code: readonly MemorySample[];
  readonly resident: readonly MemorySample[];
  readonly complaints: readonly string[];
}

/**
 * The slope of memory that a soak may not exceed by twice its standard error, in bytes per hour.
 */
export const MAX_SLOPE_BYTES_PER_HOUR = 1_000_000;

/** Below this length the slope is printed but not judged: noise of a few kB would decide. */
export const MIN_JUDGED_MINUTES = 30;

/** From this length on the slope is precise enough to be judged without its standard error. */
export const MIN_PRECISE_MINUTES = 60;

/**
 * Bytes in use by which the idle gateway may exceed those before the load, in a run of any length.
 */
export const MAX_GROWTH_BYTES = 10_000_000;

const HELD = ["descriptors", "sockets", "timers", "tasks"] as const;

/** Returns the problems of a soak; none if it has passed. */
export function verdict(run: SoakRun): readonly string[] {
  const { before, after, gauges, load, complaints } = run;
  return [
    ...load.problems.map((problem) => `altered answer: ${problem}`),
    ...HELD.filter((name) => after[name] > before[name]).map((name) =>
      `leaked ${name}: ${after[name] - before[name]} more than before the load`
    ),
    ...[...gauges.inFlight].filter(([, count]) => count !== 0).map(([name, count]) =>
      `leaked calls: ${name} is ${count}`
    ),
    ...gauges.lostWrites > 0 ? [`lost writes to the state store: ${gauges.lostWrites}`] : [],
    ...complaints.map((line) => `the log of the gateway has: ${line.slice(0, 500)}`),
    ...memoryProblems(run),
    ...missing(run),
  ];
}

function memoryProblems({ before, after, live, minutes }: SoakRun): readonly string[] {
  const growth = after.liveBytes - before.liveBytes;
  const { bytesPerHour = 0, error = 0 } = fitLastHalf(live) ?? {};
  const noise = minutes >= MIN_PRECISE_MINUTES ? 0 : 2 * error;
  return [
    ...growth > MAX_GROWTH_BYTES
      ? [`leaked memory: ${megabytes(growth)} MB more in use than before the load`]
      : [],
    ...minutes >= MIN_JUDGED_MINUTES && bytesPerHour - noise >= MAX_SLOPE_BYTES_PER_HOUR
      ? [`memory in use grows by ${megabytes(bytesPerHour)} MB an hour`]
      : [],
  ];
}

/** Returns what a soak says of itself and has not done: without it the rest would show nothing. */
function missing({ load, kinds, gauges, requestedReloads }: SoakRun): readonly string[] {
  const { whole, broken } = requestedReloads;
  const done = [["retries", gauges.retries], ["fallbacks", gauges.fallbacks], [
    "broken streams",
    gauges.brokenStreams,
  ]] as const;
  return [
    ...kinds.filter((kind) => !load.counts.has(kind)).map((kind) => `never used: ${kind}`),
    ...done.filter(([, count]) => count === 0).map(([name]) => `the gateway counted no ${name}`),
    ...gauges.reloads < whole
      ? [`reloads: ${gauges.reloads} were applied of ${whole} requested ones`]
      : [],
    ...gauges.refusedReloads < broken
      ? [`reloads: ${gauges.refusedReloads} of a broken file were refused of ${broken}`]
      : [],
  ];
}

/** Returns the figures of a soak as lines. */
export function reportLines(run: SoakRun): readonly string[] {
  const { before, after, gauges, load } = run;
  const uses = [...load.counts.values()].reduce((sum, count) => sum + count, 0);
  const inFlight = [...gauges.inFlight.values()].reduce((sum, count) => sum + count, 0);
  return [
    `uses            ${uses} of ${load.counts.size} kinds, ${load.problems.length} altered answers`,
    `requests        ${gauges.requests}, of them ${gauges.brokenStreams} broken streams; ` +
    `${gauges.retries} retries, ${gauges.fallbacks} fallbacks`,
    `reloads         ${gauges.reloads} applied, ${gauges.refusedReloads} of a broken file refused`,
    `state store     ${gauges.storeFailures} failed operations, ${gauges.lostWrites} lost writes`,
    `calls in flight ${inFlight} at the end`,
    ...HELD.map((name) => `${name.padEnd(15)} ${before[name]} before, ${after[name]} after`),
    `memory idle     ${megabytes(before.liveBytes)} MB before, ${
      megabytes(after.liveBytes)
    } MB after`,
    memoryLine("memory in use", run.live) +
    (run.minutes >= MIN_JUDGED_MINUTES ? "" : ` (not judged below ${MIN_JUDGED_MINUTES} minutes)`),
    memoryLine("compiled code", run.code),
    memoryLine("resident memory", run.resident),
  ];
}

function memoryLine(name: string, samples: readonly MemorySample[]): string {
  const slope = fitLastHalf(samples);
  const last = samples.at(-1)?.bytes ?? 0;
  const rate = slope === null
    ? "too short for a slope"
    : `${megabytes(slope.bytesPerHour)} ± ${megabytes(slope.error)} MB an hour over the last half`;
  return `${name.padEnd(15)} ${megabytes(last)} MB at the end, ${rate}`;
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(2);
}
