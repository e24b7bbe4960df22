import process from "node:process";

/** A call that can be made with any number of things in it. */
export interface GrowingCall {
  /** Endpoint, provider type and the thing that is counted: unique among all calls. */
  readonly name: string;
  /** Things in the largest call that is made at first; `MAX_THINGS` when absent. */
  readonly most?: number | undefined;
  /** The call with `n` things, ready to run: what prepares it is not measured. */
  prepare(n: number): Promise<PreparedCall>;
}

/** One call that is ready to run. */
export interface PreparedCall {
  /** Makes the call and reads its answer to the end. */
  run(): Promise<void>;
  /** Ends what the call needs besides. */
  close?(): Promise<void>;
}

/** Less than this many milliseconds is not measured: noise outweighs growth. */
const MIN_MEASURED_MS = 50;

/**
 * Calls are made larger until they take this many milliseconds, or have as many things as allowed.
 */
const ENOUGH_MS = 250;

/** Things in the first call, and in each further one how many times those of the one before. */
const FIRST_ITEMS = 2_500, STEP_RATIO = 4;

/**
 * Things in the largest call of the search. Work that is quadratic in them takes 50 ms even at half
 * a nanosecond for each pair.
 */
const MAX_THINGS = 10_000;

/**
 * Twice the things may take this many times the time. Linear work takes twice, quadratic four
 * times.
 */
const MAX_RATIO = 3;

/** Runs of both sizes in one comparison, of which the fastest count. */
const MAX_RUNS = 4;

/**
 * Comparisons before a call counts as one that grows too fast, each with this many times the
 * things.
 */
const MAX_COMPARISONS = 2, COMPARISON_STEP_RATIO = 1.4;

/** Returns the `most` of a call that the gateway refuses with more than `limit` things. */
export function mostWithin(limit: number): number {
  return Math.floor(limit / (2 * COMPARISON_STEP_RATIO ** (MAX_COMPARISONS - 1)));
}

/**
 * A call of this many milliseconds is compared once, in two runs: noise is small compared with it.
 */
const LONG_MS = 500;

/** Some systems count processor time in ticks of this many milliseconds. */
const TICK_MS = 10;

/** Returns why the time of a call grows faster than the things in it; null when it does not. */
export async function growthProblem(call: GrowingCall): Promise<string | null> {
  const { most = MAX_THINGS } = call;
  let n = Math.min(FIRST_ITEMS, most);
  let time = await warmTimeOf(call, n);
  while (time < ENOUGH_MS && n < most) {
    n = Math.min(n * STEP_RATIO, most);
    time = await warmTimeOf(call, n);
  }
  // Even the largest call is quick.
  if (time < MIN_MEASURED_MS) return null;
  let problem = await doublingProblem(call, n, time);
  for (let comparison = 1; problem !== null && comparison < MAX_COMPARISONS; comparison++) {
    if (time > LONG_MS) return problem;
    n = Math.ceil(n * COMPARISON_STEP_RATIO);
    time = await warmTimeOf(call, n);
    problem = await doublingProblem(call, n, time);
  }
  return problem;
}

/** A first run also takes the time that the engine needs to compile what it runs. */
async function warmTimeOf(call: GrowingCall, n: number): Promise<number> {
  const time = await timeOf(call, n);
  return time < ENOUGH_MS ? time : Math.min(time, await timeOf(call, n));
}

/**
 * Both sizes are measured in turn, so that what disturbs the machine for a while disturbs both.
 * `time` is what `n` things have taken before.
 */
async function doublingProblem(
  call: GrowingCall,
  n: number,
  time: number,
): Promise<string | null> {
  let once = time;
  let twice = Infinity;
  for (let run = 0; run < MAX_RUNS; run++) {
    // A call that takes long enough has been measured twice; a first run may be slow, which hides
    // growth.
    if (run > 0 || time < ENOUGH_MS) once = Math.min(once, await timeOf(call, n));
    twice = Math.min(twice, await timeOf(call, 2 * n));
    if (twice <= MAX_RATIO * once) return null;
    if (run > 0 && once > LONG_MS) break;
  }
  return `${n} take ${once.toFixed(0)} ms, ${2 * n} take ${twice.toFixed(0)} ms`;
}

/**
 * Returns the milliseconds that a call takes: on an idle machine those of the clock, on a busy one
 * no more than those of this thread on the processor.
 */
async function timeOf(call: GrowingCall, n: number): Promise<number> {
  const prepared = await call.prepare(n);
  const began = performance.now();
  const before = process.threadCpuUsage();
  await prepared.run();
  const { user, system } = process.threadCpuUsage(before);
  const passed = performance.now() - began;
  await prepared.close?.();
  return Math.min(passed, (user + system) / 1000 + TICK_MS);
}
