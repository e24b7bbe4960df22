import { httpClient } from "./http/client.ts";
import { isProxied, runtimeClient } from "./http/runtime_client.ts";
import type { World } from "./world.ts";

/** Deadlines are looked at this often, in milliseconds: one timer for all of them, not one each. */
const SWEEP = 50;

interface Waiting {
  readonly at: number;
  /** Null once it is cancelled: the set's own tables keep entries longer than the set does. */
  task: (() => void) | null;
}

/** The real outside. Close it to let the process end: it holds connections and one timer. */
export function realWorld(): World & { close(): void } {
  const waiting = new Set<Waiting>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const runtime = runtimeClient();
  const upstreams = isProxied((name) => Deno.env.get(name)) ? runtime : httpClient();

  function sweep() {
    if (waiting.size === 0) return stop();
    const now = performance.now();
    for (const entry of waiting) {
      if (entry.at > now) continue;
      waiting.delete(entry);
      entry.task?.();
    }
  }

  function stop() {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    now: () => performance.now(),
    unix: () => Math.floor(Date.now() / 1000),
    wall: () => Date.now(),
    random: Math.random,
    uuid: () => crypto.randomUUID(),
    after(ms, task) {
      const entry: Waiting = { at: performance.now() + ms, task };
      waiting.add(entry);
      timer ??= setInterval(sweep, SWEEP);
      return () => {
        waiting.delete(entry);
        entry.task = null;
      };
    },
    fetch: runtime.fetch,
    send: upstreams.send,
    close() {
      waiting.clear();
      stop();
      runtime.close();
      if (upstreams !== runtime) upstreams.close();
    },
  };
}
