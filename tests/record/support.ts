import type { Config } from "../../src/config/schema.ts";
import type { RecordDrop } from "../../src/data/record_drop.ts";
import type { RecordReply, RecordRequest } from "../../src/record/messages.ts";
import {
  openRecordFile,
  type RecordFile,
  type RecordFileOptions,
  type ScanRequest,
  type ScanResult,
} from "../../src/record/record_file.ts";
import { openRecorder, QUEUE_LIMITS, type Recorder } from "../../src/record/recorder.ts";
import type { CallRecord } from "../../src/record/record.ts";
import type { StartRecordThread } from "../../src/record/thread.ts";
import { newRecordThread } from "../../src/record/worker.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import type { ScriptedWorld } from "../support/world.ts";
import { KEY, WRITTEN_KEY } from "./files.ts";

export * from "./files.ts";

/** Returns a part of a search in a file that can be read. */
export function scanned(
  file: Pick<RecordFile, "scan">,
  request: Partial<ScanRequest> = {},
): ScanResult {
  const usual = { filter: {}, before: null, limit: 10_000, withContent: true };
  const result = file.scan({ ...usual, ...request });
  if (result === null) throw new Error("the file cannot be read");
  return result;
}

/** Returns all records of a file with their content, the newest first. */
export function allRecords(file: Pick<RecordFile, "scan">): CallRecord[] {
  const found: CallRecord[] = [];
  for (let before: number | null = null;;) {
    const { hits, next } = scanned(file, { before });
    for (const hit of hits) if ("record" in hit) found.push(hit.record);
    if (next === null) return found;
    before = next;
  }
}

/** Opens a file, reads its records and closes it. */
export function recordsIn(options: RecordFileOptions): CallRecord[] {
  const file = openRecordFile(options);
  const records = allRecords(file);
  file.close();
  return records;
}

/** A thread in this process; what it is sent waits while it is blocked. */
export interface HeldThread {
  readonly start: StartRecordThread;
  readonly requests: readonly RecordRequest[];
  block(): void;
  unblock(): void;
  crash(): void;
  /** Puts a reply in the place of the next one. */
  replaceNext(reply: RecordReply): void;
}

/** Returns a thread that runs at once in this process. */
export function heldThread(): HeldThread {
  const requests: RecordRequest[] = [];
  let waiting: RecordRequest[] | null = null;
  let replaced: RecordReply | null = null;
  let receive: (request: RecordRequest) => void = () => {};
  let onCrash = () => {};
  let isEnded = false;
  return {
    requests,
    start(events) {
      onCrash = events.onCrash;
      receive = newRecordThread((reply) => {
        const sent = replaced ?? reply;
        replaced = null;
        if (!isEnded) queueMicrotask(() => events.onReply(sent));
      });
      return {
        post(request) {
          requests.push(request);
          if (waiting === null) receive(request);
          else waiting.push(request);
        },
        terminate() {
          isEnded = true;
          waiting = null;
          // The file is closed with the thread.
          receive({ kind: "close" });
        },
      };
    },
    block() {
      waiting = [];
    },
    unblock() {
      const held = waiting ?? [];
      waiting = null;
      held.forEach(receive);
    },
    crash: () => onCrash(),
    replaceNext(reply) {
      replaced = reply;
    },
  };
}

/** A gateway whose calls are recorded. */
export interface RecordingGateway extends TestGateway {
  readonly recorder: Recorder;
  readonly thread: HeldThread;
  readonly config: Config;
  /** Counts of what was written and dropped, by kind and reason. */
  readonly counts: Readonly<Record<string, number>>;
  /** Lines that the recorder has logged. */
  readonly lines: readonly string[];
  /** Writes what waits, and returns all records, the oldest first. */
  finish(): Promise<readonly CallRecord[]>;
}

/** Returns the `record` and `state` sections of a configuration that records into a folder. */
export function recordSection(folder: string, settings = "calls: all"): string {
  return `
state: {encryption_keys: ["${WRITTEN_KEY}"]}
record: {enabled: true, path: "${folder}/record.db", ${settings}}
`;
}

/** Opens a gateway that records into a folder. */
export async function recordingGateway(
  text: string,
  world: ScriptedWorld,
  limits = QUEUE_LIMITS,
): Promise<RecordingGateway> {
  const config = parsedConfig(text);
  const thread = heldThread();
  const counts: Record<string, number> = {};
  const lines: string[] = [];
  const add = (name: RecordDrop | "heads" | "all", records: number) => {
    if (records > 0) counts[name] = (counts[name] ?? 0) + records;
  };
  const line = (text: string, fields = {}) => lines.push(`${text} ${JSON.stringify(fields)}`);
  const opened = await openRecorder(config, {
    world,
    log: { info: line, warn: line, error: line },
    recorded: add,
    dropped: add,
    start: thread.start,
    limits,
  });
  if (!opened.ok) throw new Error(opened.problem);
  const { recorder } = opened;
  const gateway = testGateway(text, world, { newCapture: recorder.newCapture });
  return {
    ...gateway,
    recorder,
    thread,
    config,
    counts,
    lines,
    async finish() {
      await recorder.close();
      const { path, max_bytes: maxBytes, keep: keepMs } = config.record;
      const options = { path, keys: [KEY], maxBytes, keepMs, policy: "none" as const };
      return recordsIn(options).toReversed();
    },
  };
}
