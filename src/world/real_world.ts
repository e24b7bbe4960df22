import { type HttpClient, newHttpClient } from "../http_client/client.ts";
import { newProxiedClient } from "../http_client/proxied.ts";
import { parseProxyRule } from "../http_client/proxy_rule.ts";
import { newRuntimeClient } from "../http_client/runtime_client.ts";
import type { World } from "../core/world.ts";

/** Deadlines are looked at this often, in milliseconds: one timer for all of them, not one each. */
const SWEEP_INTERVAL_MS = 50;

interface Waiting {
  readonly at: number;
  /** Null once it is cancelled: the set's own tables keep entries longer than the set does. */
  task: (() => void) | null;
}

/** The real outside. Close it to let the process end: it holds connections and one timer. */
export function newRealWorld(): World & { close(): void } {
  const waiting = new Set<Waiting>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const client = newClient();

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
      timer ??= setInterval(sweep, SWEEP_INTERVAL_MS);
      return () => {
        waiting.delete(entry);
        entry.task = null;
      };
    },
    send: client.send,
    close() {
      waiting.clear();
      stop();
      client.close();
    },
  };
}

/** The client of the process; only where the environment names a proxy it may use one. */
function newClient(): HttpClient {
  const rule = parseProxyRule((name) => Deno.env.get(name));
  return rule === null
    ? newHttpClient()
    : newProxiedClient(newHttpClient(), newRuntimeClient(), rule);
}
