import {
  type StartThread,
  startThread,
  type Thread,
  type ThreadEvents,
} from "../../../src/store/sqlite/thread.ts";

interface KeptThread {
  readonly thread: Thread;
  /** Receiver of what the thread reports: the link that uses it now. */
  events: ThreadEvents;
  /** The thread has closed its file, so it has nothing of it left. */
  isClosed: boolean;
}

/** Threads of this test file that no store uses. */
const idle: KeptThread[] = [];

/** Starts the thread of one store. */
export interface ThreadStarter {
  readonly start: StartThread;
  /**
   * Ends the thread of the store, which is closed. Required before the file is opened again: a
   * thread has the lock of a closed file until its statements are collected.
   */
  end(): void;
}

/**
 * Returns a starter for a store in a new file. It takes a thread whose store is closed, if there is
 * one: a start takes 35 ms of the processor. The threads end after the last test of the file.
 */
export function newThreadStarter(): ThreadStarter {
  let used: KeptThread | null = null;

  function start(events: ThreadEvents): Thread {
    const kept = idle.pop() ?? newKeptThread(events);
    kept.events = events;
    kept.isClosed = false;
    used = kept;
    return {
      post: (request) => kept.thread.post(request),
      terminate() {
        if (kept.isClosed) idle.push(kept);
        else kept.thread.terminate();
      },
    };
  }

  return {
    start,
    end() {
      const at = used === null ? -1 : idle.indexOf(used);
      for (const { thread } of at < 0 ? [] : idle.splice(at, 1)) thread.terminate();
    },
  };
}

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
