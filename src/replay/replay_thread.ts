import { startWorker, type WorkerEvents, type WorkerThread } from "../core/worker_thread.ts";
import type { ReplayResult, ReplaySettings } from "./replay_records.ts";

/** A message to a thread that replays: its settings, then the texts of records. */
export type ReplayRequest =
  | { readonly kind: "begin"; readonly settings: ReplaySettings }
  | { readonly kind: "replay"; readonly texts: readonly string[] };

/** The results of the texts in their order; null if the thread cannot go on. */
export type ReplayReply = readonly ReplayResult[] | null;

/** Starts a thread. Tests start scripted ones. */
export type StartReplayThread = (events: WorkerEvents<ReplayReply>) => WorkerThread<ReplayRequest>;

/** Starts a thread that runs `replay_worker.js`, next to this file or next to the bundle. */
export function startReplayThread(
  events: WorkerEvents<ReplayReply>,
): WorkerThread<ReplayRequest> {
  return startWorker<ReplayRequest, ReplayReply>(
    new URL("./replay_worker.js", import.meta.url),
    events,
  );
}
