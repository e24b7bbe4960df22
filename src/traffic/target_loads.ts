import { setLatest } from "../core/set_latest.ts";

/** Load of the targets: their running calls, and the times to the first byte of their responses. */
export interface TargetLoads {
  /** False while no route has a strategy that uses loads, so that none is recorded. */
  readonly isInUse: boolean;
  /** Applies whether a strategy of the current configuration uses loads. */
  configure(isInUse: boolean): void;
  /** Counts a call as running at a target until its release; only the first release counts. */
  begin(target: string): { release(): void };
  /** Records the time from a request to the first byte of its response, in milliseconds. */
  record(target: string, firstByteMs: number): void;
  /** Returns the number of calls that run at a target. */
  pending(target: string): number;
  /** Returns the median of the recorded times of a target, in milliseconds. */
  medianMs(target: string): number | null;
}

/** Number of times of which the median is taken: the latest ones. */
const MAX_TIMES = 21;

/** Maximum number of targets with times; the least recently recorded is removed first. */
const MAX_TARGETS = 10_000;

/** Returns loads of targets without a running call, for no strategy. */
export function newTargetLoads(): TargetLoads {
  // A target without a running call has no entry, so that the running calls bound the map.
  const running = new Map<string, number>();
  const times = new Map<string, readonly number[]>();
  const medians = new Map<string, number>();
  let isInUse = false;

  function add(target: string, change: 1 | -1) {
    const count = (running.get(target) ?? 0) + change;
    if (count > 0) running.set(target, count);
    else running.delete(target);
  }

  return {
    get isInUse() {
      return isInUse;
    },
    configure(next) {
      isInUse = next;
    },
    begin(target) {
      let isRunning = true;
      add(target, 1);
      return {
        release() {
          if (isRunning) add(target, -1);
          isRunning = false;
        },
      };
    },
    record(target, firstByteMs) {
      const latest = [...times.get(target) ?? [], firstByteMs].slice(-MAX_TIMES);
      const removed = setLatest(times, target, latest, MAX_TARGETS);
      if (removed !== undefined) medians.delete(removed);
      medians.set(target, median(latest));
    },
    pending: (target) => running.get(target) ?? 0,
    medianMs: (target) => medians.get(target) ?? null,
  };
}

/** Returns the median of numbers: of an even count the larger one of the middle. */
function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
