import type { Config } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { RECORD_DROPS, type RecordDrop } from "../data/record_drop.ts";
import type { RecordSizes } from "../observe/gauges.ts";
import type { Log } from "../observe/log.ts";
import { openingProblem, type Problem } from "../store/sqlite/problems.ts";
import type { Call, Capture } from "../call/call.ts";
import { newRecordCapture } from "./capture.ts";
import type { RecordReply } from "./messages.ts";
import type {
  RecordSettings,
  RecordTotals,
  ScanRequest,
  ScanResult,
  Written,
} from "./record_file.ts";
import { recordFileOptions, recordSettings } from "./record_settings.ts";
import { mayRecord } from "./select.ts";
import { MAX_ROW_RECORDS } from "./tables.ts";
import { type RecordThread, type StartRecordThread, startRecordThread } from "./thread.ts";
import type { WrittenRecord } from "./written_record.ts";

/** Dependencies of a recorder. */
export interface RecorderDeps {
  readonly world: Pick<World, "after" | "wall">;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** Counts written records. */
  recorded(kind: "heads" | "all", records: number): void;
  /** Counts records that were not written. */
  dropped(reason: RecordDrop, records: number): void;
  readonly start?: StartRecordThread;
  readonly limits?: QueueLimits;
}

/** Bounds of what waits in memory. */
export interface QueueLimits {
  readonly records: number;
  readonly chars: number;
}

/** Records calls in a file, whose thread does all work that takes time. */
export interface Recorder {
  /** Returns the capture of a call; null if it cannot have a record. */
  newCapture(call: Call): Capture | null;
  apply(config: Pick<Config, "record" | "privacy">): void;
  /** Runs a part of a search; null if the file cannot be read. */
  scan(request: ScanRequest): Promise<ScanResult | null>;
  sizes(): RecordSizes;
  /** Writes what waits within 2 s, and closes the file. */
  close(): Promise<void>;
}

/** A recorder, or why its file cannot be opened, as one sentence. */
export type OpenedRecorder =
  | { readonly ok: true; readonly recorder: Recorder }
  | { readonly ok: false; readonly problem: string; readonly reason: Problem };

/** Bounds of a gateway. */
export const QUEUE_LIMITS: QueueLimits = { records: 2_000, chars: 32 * 1024 * 1024 };

/** Bound of one transaction, and the time for which a record waits for further ones. */
const MAX_BATCH_CHARS = 2 * 1024 * 1024;
const BATCH_DELAY_MS = 500;

/** Time for which nothing is written after the disk has failed. */
const PAUSE_MS = 60_000;

/** Time between two log lines about dropped records, and between two deletions of old ones. */
const WARNING_INTERVAL_MS = 60_000, EXPIRY_INTERVAL_MS = 60_000;

/** Time in which the thread must have opened the file, and in which it must have closed it. */
const OPEN_TIMEOUT_MS = 30_000, CLOSE_TIMEOUT_MS = 2_000;

/** A record that is not written yet, and what it holds in memory. */
interface WaitingRecord {
  readonly record: WrittenRecord;
  readonly chars: number;
  /** Those at the end of its call, which mask it. */
  readonly settings: RecordSettings;
}

/** Returns the size of what a record holds in memory. */
function charsOf({ head, request, response, clientKey }: WrittenRecord): number {
  const texts = [
    clientKey,
    ...[request?.query, request?.body, response?.body, response?.events],
    ...[head.path, head.session, head.model_requested, ...head.lossy, ...head.verified],
    ...Object.values(request?.headers ?? {}),
    ...Object.values(response?.headers ?? {}),
  ];
  return texts.reduce<number>((sum, text) => sum + (text?.length ?? 0), HEAD_CHARS);
}

/** Approximate size of a head without what clients write. */
const HEAD_CHARS = 1_024;

const NO_TOTALS: RecordTotals = { records: 0, bytes: 0, oldest: null, newest: null };

/** Starts the thread of the records and opens their file. */
export function openRecorder(
  config: Pick<Config, "record" | "state" | "privacy">,
  deps: RecorderDeps,
): Promise<OpenedRecorder> {
  const { world, log, start = startRecordThread, limits = QUEUE_LIMITS } = deps;
  const { path } = config.record;
  const opened = Promise.withResolvers<OpenedRecorder>();
  const closed = Promise.withResolvers<void>();
  const searches = new Map<number, (result: ScanResult | null) => void>();
  const drops = new Map<RecordDrop, number>();
  let state: "opening" | "ready" | "closing" | "ended" = "opening";
  let waiting: WaitingRecord[] = [];
  let inFlight: readonly WaitingRecord[] = [];
  let heldChars = 0;
  let dropped = 0;
  let totals = NO_TOTALS;
  let settings = recordSettings(config);
  let applied = settings;
  let ids = 0;
  let isPaused = false;
  let cancelBatch: (() => void) | null = null;
  let cancelWarning: (() => void) | null = null;
  let cancelExpiry = () => {};
  let cancelPause = () => {};
  let cancelLimit = world.after(OPEN_TIMEOUT_MS, () => refuse("worker"));

  const thread: RecordThread = start({ onReply: receive, onCrash: () => end("worker") });
  thread.post({ kind: "open", options: recordFileOptions(config), now: world.wall() });

  function receive(reply: RecordReply): void {
    switch (reply.kind) {
      case "opened":
        cancelLimit();
        totals = reply.totals;
        state = "ready";
        scheduleExpiry();
        return opened.resolve({ ok: true, recorder });
      case "refused":
        return refuse(reply.problem);
      case "written":
        return receiveWritten(reply.written);
      case "expired":
        totals = reply.totals;
        return;
      case "scanned":
        searches.get(reply.id)?.(reply.result);
        searches.delete(reply.id);
        return;
      case "closed":
        return finish();
      case "broken":
        return end("worker");
    }
  }

  function refuse(reason: Problem): void {
    if (state !== "opening") return;
    cancelLimit();
    state = "ended";
    thread.terminate();
    opened.resolve({ ok: false, problem: openingProblem(reason, path, "record.path"), reason });
  }

  function receiveWritten(written: Written): void {
    const batch = inFlight;
    inFlight = [];
    release(batch);
    if (!written.ok) {
      drop("disk", batch.length);
      if (written.problem === "removed") return end("removed");
      return pause(written.problem);
    }
    totals = written.totals;
    deps.recorded("all", written.all);
    deps.recorded("heads", written.heads);
    drop("redaction", written.unredacted);
    schedule();
  }

  /** Counts records out that no longer wait. */
  function release(records: readonly WaitingRecord[]): void {
    for (const { chars } of records) heldChars -= chars;
  }

  /** Ends recording for the rest of the process: the right to open files is gone. */
  function end(problem: Problem): void {
    if (state === "opening") return refuse(problem);
    if (state === "ended") return;
    const isClosing = state === "closing";
    state = "ended";
    const lost = [...waiting, ...inFlight];
    release(lost);
    drop(isClosing ? "shutdown" : "worker", lost.length);
    [waiting, inFlight] = [[], []];
    finish();
    if (!isClosing) {
      log.error("recording has ended; a restart of the gateway begins it again", {
        reason: problem,
      });
    }
  }

  function stopTimers(): void {
    cancelBatch?.();
    cancelBatch = null;
    cancelExpiry();
    cancelPause();
    cancelLimit();
  }

  function finish(): void {
    state = "ended";
    for (const resolve of searches.values()) resolve(null);
    searches.clear();
    stopTimers();
    thread.terminate();
    closed.resolve();
  }

  function pause(reason: Problem): void {
    isPaused = true;
    drop("disk", waiting.length);
    release(waiting.splice(0));
    log.error("recording paused for a minute", { reason });
    if (state === "closing") return schedule();
    cancelPause = world.after(PAUSE_MS, () => {
      isPaused = false;
    });
  }

  /** Counts dropped records, and warns at once and then at most once a minute. */
  function drop(reason: RecordDrop, records: number): void {
    if (records === 0) return;
    deps.dropped(reason, records);
    dropped += records;
    drops.set(reason, (drops.get(reason) ?? 0) + records);
    if (cancelWarning === null) warn();
  }

  function warn(): void {
    cancelWarning = null;
    const counts = RECORD_DROPS.flatMap((reason) => {
      const records = drops.get(reason);
      return records === undefined ? [] : [[reason, records] as const];
    });
    if (counts.length === 0) return;
    log.warn("records dropped", Object.fromEntries(counts));
    drops.clear();
    if (state === "ready") cancelWarning = world.after(WARNING_INTERVAL_MS, warn);
  }

  function scheduleExpiry(): void {
    cancelExpiry = world.after(EXPIRY_INTERVAL_MS, () => {
      thread.post({ kind: "expire", now: world.wall() });
      scheduleExpiry();
    });
  }

  /** Sends the next records to the thread, if it is free and there are enough. */
  function schedule(): void {
    if (inFlight.length > 0) return;
    if (state === "closing" && waiting.length === 0) return thread.post({ kind: "close" });
    if (waiting.length === 0) return use(settings);
    // Of a few large ones no more may come: they would wait alone, one after the other.
    const isEnough = waiting.length >= MAX_ROW_RECORDS ||
      waiting.reduce((sum, { chars }) => sum + chars, 0) > MAX_BATCH_CHARS;
    if (isEnough || state === "closing") send();
    else cancelBatch ??= world.after(BATCH_DELAY_MS, send);
  }

  function send(): void {
    cancelBatch?.();
    cancelBatch = null;
    const [first] = waiting;
    if (inFlight.length > 0 || first === undefined) return;
    use(first.settings);
    let chars = 0;
    const count = waiting.findIndex((one, index) => {
      chars += one.chars;
      return index >= MAX_ROW_RECORDS || one.settings !== first.settings ||
        (index > 0 && chars > MAX_BATCH_CHARS);
    });
    inFlight = waiting.splice(0, count < 0 ? waiting.length : count);
    const records = inFlight.map(({ record }) => record);
    thread.post({ kind: "write", records, now: world.wall() });
  }

  /** Sends settings to the thread unless it has them. */
  function use(next: RecordSettings): void {
    if (next === applied) return;
    applied = next;
    thread.post({ kind: "apply", settings: next });
  }

  const sink = {
    hold(chars: number): boolean {
      if (heldChars + chars > limits.chars) return false;
      heldChars += chars;
      return true;
    },
    release(chars: number): void {
      heldChars -= chars;
    },
    add(record: WrittenRecord): void {
      const chars = charsOf(record);
      if (state !== "ready") return drop("worker", 1);
      if (isPaused) return drop("disk", 1);
      const isFull = waiting.length + inFlight.length >= limits.records;
      if (isFull || !sink.hold(chars)) return drop("queue", 1);
      waiting.push({ record, chars, settings });
      schedule();
    },
  };

  const recorder: Recorder = {
    newCapture: (call) =>
      state === "ready" && mayRecord(call)
        ? newRecordCapture(call, sink, () => world.wall())
        : null,
    apply(next) {
      if (state !== "ready") return;
      settings = recordSettings(next);
      schedule();
    },
    scan(request) {
      if (state !== "ready") return Promise.resolve(null);
      const { promise, resolve } = Promise.withResolvers<ScanResult | null>();
      const id = ++ids;
      searches.set(id, resolve);
      thread.post({ kind: "scan", id, request });
      return promise;
    },
    sizes: () => ({
      isOn: state === "ready",
      bytes: totals.bytes,
      oldestMs: totals.oldest === null ? 0 : Math.max(0, world.wall() - totals.oldest),
      queueChars: heldChars,
      dropped,
    }),
    close() {
      if (state === "ready") {
        state = "closing";
        cancelLimit = world.after(CLOSE_TIMEOUT_MS, () => end("worker"));
        schedule();
      }
      // What is lost from here on has a line at once.
      cancelWarning?.();
      cancelWarning = null;
      return closed.promise;
    },
  };
  return opened.promise;
}
