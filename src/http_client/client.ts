import { ConnectionError } from "../core/connection_error.ts";
import { DEFAULT_TRANSPORT } from "../core/transport.ts";
import type { Incoming, Outgoing, World } from "../core/world.ts";
import { roundTrip } from "./round_trip.ts";
import { type Clock, newPool } from "./connection_pool.ts";
import { type Destination, parseDestination, requestParts } from "./request.ts";

/** Sends requests over connections that it keeps. */
export interface HttpClient {
  readonly send: World["send"];
  /** Ends every connection, and with it every exchange that is not over. */
  close(): void;
}

/** Targets that are remembered: few, but the ids of stored objects stand in paths. */
const MAX_CACHED_DESTINATIONS = 200;

/**
 * An HTTP/1.1 client over plain connections (RFC 9112). Measured against the runtime's own: a third
 * of its processor time for a small answer, and for a stream of small chunks, of which that one
 * gives each by itself. A request is written once. One that is repeatable is written a second time, on
 * a new connection, when a reused one failed before any byte of the response: the server has likely
 * closed that one while it was idle.
 */
export function newHttpClient(clock: Clock = realClock): HttpClient {
  const pool = newPool(clock);
  const targets = new Map<string, Destination>();

  function targetOf(url: string): Destination {
    const known = targets.get(url);
    if (known !== undefined) return known;
    if (targets.size >= MAX_CACHED_DESTINATIONS) targets.clear();
    const target = parseDestination(url);
    targets.set(url, target);
    return target;
  }

  async function send(url: string, request: Outgoing): Promise<Incoming> {
    const target = targetOf(url);
    const { transport = DEFAULT_TRANSPORT } = request;
    // Before there is a connection: what cannot be sent needs none.
    const parts = requestParts(target, request, transport.keepAliveMs <= 0);
    if (pool.isLongIdle(target, transport)) await yieldToEventLoop();
    const reused = pool.idle(target, transport);
    if (reused !== null) {
      try {
        return await roundTrip(reused, parts, request);
      } catch (error) {
        if (request.isRepeatable !== true || !isStale(error)) throw error;
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

/** True if a reused connection was likely closed by its server before the request came. */
function isStale(error: unknown): boolean {
  return error instanceof ConnectionError && !error.isAnswered &&
    (error.kind === "reset" || error.kind === "closed");
}

/** The error of a connection for a request that was written before, on another one. */
function writtenBefore(error: unknown): unknown {
  if (!(error instanceof ConnectionError)) return error;
  return new ConnectionError(error.kind, error.message, { mayHaveRun: true, isAnswered: false });
}

/** Lets everything else happen that is due. */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** The longest timer of the runtime (2^31 - 1); a longer one would fire at once. */
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
