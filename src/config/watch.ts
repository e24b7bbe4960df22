import { basename, dirname, resolve } from "node:path";
import type { World } from "../core/world.ts";

/** A change is complete after this time without a further event. */
const QUIET_MS = 100;

/** Maximum delay of a reload in a directory with continuous events. */
const MAX_DELAY_MS = 1_000;

/** Watches a configuration file. */
export interface ConfigWatch {
  /** Calls the task after each change since the watch was created. Must be called once. */
  each(task: () => void): void;
  /** Ends the watch: the task is not called afterwards. May be called twice. */
  close(): Promise<void>;
}

/**
 * Watches the directory of a configuration file. The directory outlives the file: the file may be
 * written, replaced, removed for a time, or reached through a symbolic link that is swapped. Changes
 * of `.env` next to it count too. The task may run without a change, so it must compare contents.
 * Returns null if the system does not allow a watch.
 */
export function watchConfig(path: string): ConfigWatch | null {
  const file = resolve(path);
  const names = new Set([basename(file), ".env"]);
  const watcher = newWatcher(dirname(file));
  if (watcher === null) return null;
  let watching = Promise.resolve();
  let debounce: Debounce | null = null;
  let isClosed = false;

  async function follow(events: AsyncIterable<Deno.FsEvent>, { event: report }: Debounce) {
    try {
      for await (const event of events) {
        if (isRelevant(event, names)) report();
      }
    } catch {
      // The system ended the watch; SIGHUP still triggers a reload.
    }
  }

  return {
    each(task) {
      debounce = newDebounce(task, realClock);
      watching = follow(watcher, debounce);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      watcher.close();
      await watching;
      debounce?.cancel();
    },
  };
}

const realClock: Pick<World, "now" | "after"> = {
  now: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

/** Joins events that follow each other into one call of a task. */
export interface Debounce {
  event(): void;
  /** Cancels the call that waits. */
  cancel(): void;
}

/** Calls `task` once no event has arrived for 100 ms, and at the latest 1 s after the first event. */
export function newDebounce(task: () => void, clock: Pick<World, "now" | "after">): Debounce {
  let waitingSinceMs: number | null = null;
  let cancel = () => {};
  return {
    event() {
      waitingSinceMs ??= clock.now();
      const leftMs = waitingSinceMs + MAX_DELAY_MS - clock.now();
      cancel();
      cancel = clock.after(Math.min(QUIET_MS, leftMs), () => {
        waitingSinceMs = null;
        task();
      });
    },
    cancel: () => cancel(),
  };
}

function newWatcher(directory: string): Deno.FsWatcher | null {
  try {
    return Deno.watchFs(directory, { recursive: false });
  } catch {
    return null;
  }
}

/**
 * True if an event may have changed the file. A read does not. A write counts only for the watched
 * names, because a log file in the same directory is written continuously. A created or removed entry
 * always counts: it may be a symbolic link on the path to the file.
 */
export function isRelevant({ kind, paths }: Deno.FsEvent, names: ReadonlySet<string>): boolean {
  switch (kind) {
    case "access":
      return false;
    case "modify":
      return paths.some((path) => names.has(basename(path)));
    case "any":
    case "create":
    case "remove":
    case "rename":
    case "other":
      return true;
  }
}
