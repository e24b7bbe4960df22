import { startWorker, type WorkerEvents, type WorkerThread } from "../core/worker_thread.ts";
import type { RecordReply, RecordRequest } from "./messages.ts";

/** The thread of the records. */
export type RecordThread = WorkerThread<RecordRequest>;

/** Starts a thread. Tests start scripted ones. */
export type StartRecordThread = (events: WorkerEvents<RecordReply>) => RecordThread;

/** Starts a thread that runs `record_worker.js`, next to this file or next to the bundle. */
export function startRecordThread(events: WorkerEvents<RecordReply>): RecordThread {
  return startWorker<RecordRequest, RecordReply>(
    new URL("./record_worker.js", import.meta.url),
    events,
  );
}
