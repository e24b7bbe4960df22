import { type HttpClient, newHttpClient } from "../http_client/client.ts";
import { newProxiedClient } from "../http_client/proxied.ts";
import { parseProxyRule } from "../http_client/proxy_rule.ts";
import { newRuntimeClient } from "../http_client/runtime_client.ts";
import type { World } from "../core/world.ts";

/**
 * Interval in milliseconds between checks of all timeouts: one shared timer instead of one for
 * each. A shorter wait has its timer alone.
 */
const SWEEP_INTERVAL_MS = 50;

interface Waiting {
  readonly at: number;
  /** Null after cancellation: the tables of the set hold entries longer than the set does. */
  task: (() => void) | null;
}

/**
 * Returns the real clock, randomness and HTTP client. It holds connections and one timer, so
 * `close` lets the process end.
 */
export function newRealWorld(): World & { close(): void } {
  const waiting = new Set<Waiting>();
  const shortTimers = new Set<ReturnType<typeof setTimeout>>();
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

  function afterShort(ms: number, task: () => void): () => void {
    const id = setTimeout(() => {
      shortTimers.delete(id);
      task();
    }, ms);
    shortTimers.add(id);
    return () => {
      shortTimers.delete(id);
      clearTimeout(id);
    };
  }

  return {
    now: () => performance.now(),
    unix: () => Math.floor(Date.now() / 1000),
    wall: () => Date.now(),
    random: Math.random,
    uuid: newTimedUuid,
    after(ms, task) {
      if (ms < SWEEP_INTERVAL_MS) return afterShort(ms, task);
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
      for (const id of shortTimers) clearTimeout(id);
      shortTimers.clear();
      stop();
      client.close();
    },
  };
}

/**
 * Returns a UUID that begins with the time (RFC 9562, version 7): a store finds and removes IDs of
 * the same time in the same pages.
 */
function newTimedUuid(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`;
}

/** Returns the HTTP client of the process; it uses a proxy only if the environment names one. */
function newClient(): HttpClient {
  const rule = parseProxyRule((name) => Deno.env.get(name));
  return rule === null
    ? newHttpClient()
    : newProxiedClient(newHttpClient(), newRuntimeClient(), rule);
}
