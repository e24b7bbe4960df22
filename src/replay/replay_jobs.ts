import type { RecordEntry, RecordSet } from "./record_set.ts";
import { newReplay, type ReplayResult, type ReplaySettings } from "./replay_records.ts";
import { type StartReplayThread, startReplayThread } from "./replay_thread.ts";

/** How a set is divided among threads. */
export interface JobOptions extends Omit<ReplaySettings, "continued"> {
  /** Number of threads; 1 for this one alone. */
  readonly jobs: number;
  readonly start?: StartReplayThread;
}

/** Number of records, and characters of their texts, after which a message is sent. */
const MAX_BATCH_RECORDS = 32;
const MAX_BATCH_CHARS = 1024 * 1024;

/**
 * Yields the results of a set in the order of its records, whatever the number of threads. Records
 * that may continue each other are replayed by the first thread alone, in their order.
 */
export async function* replayInJobs(
  set: RecordSet,
  { jobs, start = startReplayThread, ...options }: JobOptions,
): AsyncGenerator<ReplayResult> {
  const { before, after, seed, isExact } = options;
  const settings = { before, after, seed, isExact, continued: set.continued };
  if (jobs === 1) {
    const replay = newReplay(settings);
    for (const entry of set.entries) yield await replay(set.textOf(entry));
    return;
  }
  const places = set.entries.map((entry, place) => ({ entry, place }));
  const chained = places.filter(({ entry }) => entry.isChained).values();
  const single = places.filter(({ entry }) => !entry.isChained).values();
  const results = new Map<number, ReplayResult>();
  let changed = Promise.withResolvers<void>();
  const length = Math.min(jobs, places.length);
  const threads = Array.from({ length }, () => newThread(start, settings));
  const working = Promise.all(threads.map(async (thread, job) => {
    for (;;) {
      const chain = job === 0 ? nextBatch(set, chained) : [];
      const batch = chain.length > 0 ? chain : nextBatch(set, single);
      if (batch.length === 0) return;
      const replies = await thread.replay(batch.map(({ text }) => text));
      batch.forEach(({ place }, at) => results.set(place, replies[at] ?? "unreadable"));
      changed.resolve();
    }
  }));
  // It may fail while the results so far are read.
  working.catch(() => {});
  try {
    for (let place = 0; place < set.entries.length;) {
      const result = results.get(place);
      if (result !== undefined) {
        results.delete(place++);
        yield result;
        continue;
      }
      changed = Promise.withResolvers();
      await Promise.race([changed.promise, working]);
    }
  } finally {
    for (const thread of threads) thread.terminate();
  }
}

/** Returns the next records that are sent as one message; none at the end. */
function nextBatch(set: RecordSet, left: Iterator<{ entry: RecordEntry; place: number }>) {
  const batch: { readonly place: number; readonly text: string }[] = [];
  let chars = 0;
  while (batch.length < MAX_BATCH_RECORDS && chars < MAX_BATCH_CHARS) {
    const next = left.next();
    if (next.done === true) break;
    const text = set.textOf(next.value.entry);
    batch.push({ place: next.value.place, text });
    chars += text.length;
  }
  return batch;
}

/** Starts a thread, which replays one batch at a time. */
function newThread(start: StartReplayThread, settings: ReplaySettings) {
  let waiting = Promise.withResolvers<readonly ReplayResult[]>();
  // It may fail before the first batch, when nothing waits for it.
  waiting.promise.catch(() => {});
  const fail = () => waiting.reject(new Error("a thread of the replay has ended"));
  const thread = start({
    onReply: (results) => results === null ? fail() : waiting.resolve(results),
    onCrash: fail,
  });
  thread.post({ kind: "begin", settings });
  return {
    replay(texts: readonly string[]): Promise<readonly ReplayResult[]> {
      waiting = Promise.withResolvers();
      thread.post({ kind: "replay", texts });
      return waiting.promise;
    },
    terminate: () => thread.terminate(),
  };
}
