import type { WorkerRequest } from "../../../src/state/sqlite/messages.ts";
import type { StartThread } from "../../../src/state/sqlite/thread.ts";
import { newDatabaseThread } from "../../../src/state/sqlite/worker.ts";

/**
 * Starts the receiver of a database in the thread of the test: a thread for each of many stores takes most of
 * the time of their tests. Messages are copied as between threads, and arrive later.
 */
export const startInline: StartThread = ({ onReply }) => {
  let isEnded = false;
  const receive = newDatabaseThread((reply) => {
    const copy = structuredClone(reply);
    queueMicrotask(() => {
      if (!isEnded) onReply(copy);
    });
  });

  return {
    post(request: WorkerRequest) {
      const copy = structuredClone(request);
      queueMicrotask(() => {
        if (!isEnded) receive(copy);
      });
    },
    terminate() {
      isEnded = true;
      receive({ kind: "close" });
    },
  };
};
