import { startWorker } from "../store/sqlite/thread.ts";
import type { RecordReply, RecordRequest } from "./messages.ts";

/** The thread of the records, as the gateway's thread sees it. */
export interface RecordThread {
  post(request: RecordRequest): void;
  /** Ends the thread without waiting for it. */
  terminate(): void;
}

/** What the thread reports. */
export interface RecordThreadEvents {
  onReply(reply: RecordReply): void;
  /** The thread has ended by itself. */
  onCrash(): void;
}

/** Starts a thread. Tests start scripted ones. */
export type StartRecordThread = (events: RecordThreadEvents) => RecordThread;

/** Starts a thread that runs `record_worker.js`, next to this file or next to the bundle. */
export function startRecordThread(events: RecordThreadEvents): RecordThread {
  return startWorker<RecordRequest, RecordReply>(
    new URL("./record_worker.js", import.meta.url),
    events,
  );
}
