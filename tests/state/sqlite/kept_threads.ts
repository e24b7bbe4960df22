import {
  type StartThread,
  startThread,
  type Thread,
  type ThreadEvents,
} from "../../../src/state/sqlite/thread.ts";

interface KeptThread {
  readonly thread: Thread;
  /** Receiver of what the thread reports: the link that uses it now. */
  events: ThreadEvents;
  /** The thread has closed its file, so it has nothing of it left. */
  isClosed: boolean;
}

/** Threads of this test file that no store uses. */
const idle: KeptThread[] = [];

/**
 * Starts a thread, or takes one whose store is closed: a start takes 35 ms of the processor. For stores
 * in new files: one that opens a file again has a new thread. They end after the last test of the file.
 */
export const startKeptThread: StartThread = (events) => {
  const kept = idle.pop() ?? newKeptThread(events);
  kept.events = events;
  kept.isClosed = false;
  return {
    post: (request) => kept.thread.post(request),
    terminate() {
      if (kept.isClosed) idle.push(kept);
      else kept.thread.terminate();
    },
  };
};

function newKeptThread(first: ThreadEvents): KeptThread {
  const kept: KeptThread = {
    thread: startThread({
      onReply(reply) {
        kept.isClosed = reply.kind === "closed";
        kept.events.onReply(reply);
      },
      onCrash: () => kept.events.onCrash(),
    }),
    events: first,
    isClosed: false,
  };
  return kept;
}

Deno.test.afterAll(() => {
  for (const { thread } of idle.splice(0)) thread.terminate();
});
