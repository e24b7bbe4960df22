import { basename, dirname, resolve } from "node:path";

/** So many milliseconds without a further event, and a change is taken for complete. */
const QUIET = 100;

/** A directory that is never quiet is looked at this often, in milliseconds. */
const PATIENCE = 1_000;

/** Watches a configuration file. */
export interface ConfigWatch {
  /** Runs the task after each change, also after those since the watch began. To be called once. */
  each(task: () => void): void;
  /** No task runs any more. May be called again. */
  close(): Promise<void>;
}

/**
 * Watches the directory of a file, because what is watched there outlives the file: it may be
 * written to, replaced, be or lie behind a link that is swapped, or be away for a while. The `.env`
 * beside it counts too. What was read is for the task to compare: it may also run without a change.
 * Null when the system does not allow it.
 */
export function watchConfig(path: string): ConfigWatch | null {
  const file = resolve(path);
  const names = new Set([basename(file), ".env"]);
  const watcher = watcherOf(dirname(file));
  if (watcher === null) return null;
  let watching = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waitingSince: number | null = null;
  let isClosed = false;

  async function follow(events: AsyncIterable<Deno.FsEvent>, task: () => void) {
    try {
      for await (const event of events) {
        if (matters(event, names)) soon(task);
      }
    } catch {
      // The system has taken the watch away; a reload can still be asked for.
    }
  }

  function soon(task: () => void) {
    waitingSince ??= performance.now();
    const left = waitingSince + PATIENCE - performance.now();
    clearTimeout(timer);
    timer = setTimeout(() => {
      waitingSince = null;
      task();
    }, Math.min(QUIET, left));
  }

  return {
    each(task) {
      watching = follow(watcher, task);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      watcher.close();
      await watching;
      clearTimeout(timer);
    },
  };
}

function watcherOf(directory: string): Deno.FsWatcher | null {
  try {
    return Deno.watchFs(directory, { recursive: false });
  } catch {
    return null;
  }
}

/**
 * Reading is no change. A log may be written beside the file, and each of its lines would count, so a
 * write counts only by name; an entry that comes or goes may be a link on the way to the file.
 */
function matters({ kind, paths }: Deno.FsEvent, names: ReadonlySet<string>): boolean {
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
