import type { FinishedCall } from "./snapshot.ts";

/** Maximum number of calls in a ring. */
export const MAX_RING_CALLS = 100;

/** Maximum size of all calls in a ring, in characters of at most two bytes. */
export const MAX_RING_CHARS = 1024 * 1024;

/** The last finished calls of one kind. */
export interface CallRing {
  /** Adds a call, and drops the oldest ones that exceed a bound. */
  add(call: FinishedCall): void;
  /** Returns the calls with higher numbers, newest first. */
  since(number: number): readonly FinishedCall[];
}

/** Returns a ring without calls. */
export function newCallRing(): CallRing {
  /** Oldest first. */
  const calls: FinishedCall[] = [];
  let chars = 0;
  return {
    add(call) {
      calls.push(call);
      chars += charsOf(call);
      while (calls.length > MAX_RING_CALLS || chars > MAX_RING_CHARS) {
        const oldest = calls.shift();
        if (oldest === undefined) break;
        chars -= charsOf(oldest);
      }
    },
    since: (number) =>
      calls.slice(calls.findLastIndex((one) => one.number <= number) + 1).reverse(),
  };
}

/** Characters of a call besides its lists: the access line has some 25 fields, of which few are long. */
const FIXED_CHARS = 4096;

/** Returns the size of a call in characters. Its lists are its only parts that can be long. */
function charsOf({ targets, attempts, verified, lossy }: FinishedCall): number {
  let chars = FIXED_CHARS;
  for (const { model, skipped } of targets) {
    chars += ENTRY_CHARS + (model?.length ?? 0) + (skipped?.length ?? 0);
  }
  for (const { model } of attempts) chars += ENTRY_CHARS + model.length;
  for (const path of verified) chars += path.length;
  for (const path of lossy) chars += path.length;
  return chars;
}

/** Characters of a target or attempt besides the texts of the client: names of the file, times, flags. */
const ENTRY_CHARS = 200;
