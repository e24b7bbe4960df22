import { startWorker, type WorkerEvents, type WorkerThread } from "../../core/worker_thread.ts";
import type { WorkerReply, WorkerRequest } from "./messages.ts";

/** The thread of a database. */
export type Thread = WorkerThread<WorkerRequest>;

/** Reports of the thread of a database. */
export type ThreadEvents = WorkerEvents<WorkerReply>;

/** Starts a thread. Tests start scripted ones. */
export type StartThread = (events: ThreadEvents) => Thread;

/** Starts a thread that runs `store_worker.js`, the file next to this one or next to the bundle. */
export function startThread(events: ThreadEvents): Thread {
  return startWorker<WorkerRequest, WorkerReply>(
    new URL("./store_worker.js", import.meta.url),
    events,
  );
}
