import { ConnectionError } from "../core/failure/connection_error.ts";
import { DEFAULT_TRANSPORT } from "../core/transport.ts";
import type { Incoming, Outgoing, World } from "../core/world.ts";
import { roundTrip } from "./round_trip.ts";
import { type Clock, newPool } from "./connection_pool.ts";
import { type Destination, parseDestination, requestParts } from "./request.ts";

/** HTTP client with a pool of connections. */
export interface HttpClient {
  readonly send: World["send"];
  /** Closes every connection and fails the requests on them. */
  close(): void;
}

/** Limit of cached destinations: there are few, except for URLs with the IDs of stored objects. */
const MAX_CACHED_DESTINATIONS = 200;

/**
 * Longest time from the write of a request to the failure of a connection that the server had
 * closed while it was idle. A later failure ends a request that the server has worked on.
 */
const MAX_STALE_FAILURE_MS = 1_000;

/**
 * Returns an HTTP/1.1 client over plain connections (RFC 9112). Measured against the runtime's
 * client, it takes a third of the processor time for a small response. The same holds for a stream
 * of small chunks, which the runtime's client passes on one by one. A request is sent once. A
 * repeatable request is sent a second time on a new connection if a reused one failed within a
 * second and before the first byte of the response: the server has likely closed that connection
 * while it was idle.
 */
export function newHttpClient(clock: Clock = realClock): HttpClient {
  const pool = newPool(clock);
  const targets = new Map<string, Destination>();

  function findOrAddDestination(url: string): Destination {
    const known = targets.get(url);
    if (known !== undefined) return known;
    if (targets.size >= MAX_CACHED_DESTINATIONS) targets.clear();
    const target = parseDestination(url);
    targets.set(url, target);
    return target;
  }

  async function send(url: string, request: Outgoing): Promise<Incoming> {
    const target = findOrAddDestination(url);
    const { transport = DEFAULT_TRANSPORT } = request;
    // Checked before dialing: an unsendable request needs no connection.
    const parts = requestParts(target, request, transport.keepAliveMs <= 0);
    if (pool.isDoubtful(target, transport)) await yieldToEventLoop();
    const reused = pool.idle(target, transport);
    if (reused !== null) {
      const began = clock.now();
      try {
        return await roundTrip(reused, parts, request);
      } catch (error) {
        const isEarly = clock.now() - began <= MAX_STALE_FAILURE_MS;
        if (request.isRepeatable !== true || !isEarly || !isStale(error)) throw error;
        request.onRepeat?.();
      }
    }
    const line = await pool.open(target, transport, request.cancellation).catch((error) => {
      throw reused === null ? error : writtenBefore(error);
    });
    return await roundTrip(line, parts, request);
  }

  return { send, close: pool.close };
}

/** True if a reused connection was likely closed by its server before the request arrived. */
function isStale(error: unknown): boolean {
  return error instanceof ConnectionError && !error.isAnswered &&
    (error.kind === "reset" || error.kind === "closed");
}

/**
 * Returns the error of a new connection for a request that was already sent on another connection.
 */
function writtenBefore(error: unknown): unknown {
  if (!(error instanceof ConnectionError)) return error;
  return new ConnectionError(error.kind, error.message, { mayHaveRun: true, isAnswered: false });
}

/**
 * Resolves in a later turn of the event loop, after pending I/O events. In one turn the runtime
 * runs due timers before it dispatches I/O, so a first timer that is due by then comes too early.
 */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(() => setTimeout(resolve, 0), 0));
}

/** The longest timer of the runtime (2^31 - 1 ms); a longer one would fire immediately. */
const MAX_TIMER_MS = 2_147_483_647;

const realClock: Clock = {
  now: () => performance.now(),
  every(ms, task) {
    const timer = setInterval(task, ms);
    Deno.unrefTimer(timer);
    return () => clearInterval(timer);
  },
  after(ms, task) {
    const due = performance.now() + ms;
    let timer = setTimeout(check, Math.min(ms, MAX_TIMER_MS));
    return () => clearTimeout(timer);

    function check() {
      const left = due - performance.now();
      if (left <= 0) task();
      else timer = setTimeout(check, Math.min(left, MAX_TIMER_MS));
    }
  },
};
