import { setImmediate } from "node:timers";
import { pushAll } from "../../src/core/push_all.ts";
import { libcPath } from "../../src/runtime/sockets.ts";
import { CHAT, type Cores, startCompared } from "./compared.ts";
import { encodePost, type HttpClient, newHttpClient } from "./http_client.ts";
import { warmUp } from "./measure.ts";
import { chatRequest } from "./payloads.ts";
import type { LocalServer, ServerProcesses } from "./processes.ts";
import { quantile } from "./report.ts";

/** Bounds of p99 in milliseconds. */
export const P99_BOUNDS_MS = [1, 5, 10, 50] as const;

/** The highest rate of small calls, in calls per second, at which p99 stays below each bound. */
export interface RatesResult {
  readonly floor: readonly number[];
  readonly gateway: readonly number[];
  /**
   * Milliseconds by which the load itself began calls too late, ascending, at the rates that were
   * below a bound: a part of their times that belongs to no system.
   */
  readonly lateMs: readonly number[];
}

/** Connections of the load, and calls that wait for one of them. */
const CONNECTION_COUNT = 64;

/** Length of one look at a rate, and of the warm-up, which shows the highest rate of all. */
const LOOK_S = 1.5, WARM_UP_S = 8;

/** The difference of two rates that the search takes for one, as a share of the highest of all. */
const PRECISION_RATIO = 0.05;

/** Searches the rates of the floor and the gateway in turns. */
export async function measureRates(
  servers: ServerProcesses,
  cores: Cores,
): Promise<RatesResult> {
  using clock = newClock();
  const compared = await startCompared(servers, cores);
  const floor = await newSearched(compared.floor, clock);
  const gateway = await newSearched(compared.gateway, clock);
  const running = new Set([floor, gateway]);
  while (running.size > 0) {
    for (const searched of running) if (!await searched.look()) running.delete(searched);
  }
  const lateMs = [...floor.lateMs, ...gateway.lateMs].toSorted((a, b) => a - b);
  return { floor: floor.search.rates(), gateway: gateway.search.rates(), lateMs };
}

async function newSearched(system: LocalServer, clock: Clock) {
  const search = newRateSearch(P99_BOUNDS_MS, await warmUp(system, WARM_UP_S));
  const lateMs: number[] = [];
  return {
    search,
    lateMs,
    /** Looks at the next rate. Returns false at the end of the search. */
    async look(): Promise<boolean> {
      const rate = search.next();
      if (rate === null) return false;
      const looked = await lookAt(system.port, rate, clock);
      search.seen(rate, looked.p99Ms);
      if (looked.p99Ms < Math.max(...P99_BOUNDS_MS)) pushAll(lateMs, looked.lateMs);
      return true;
    },
  };
}

/** A search for the highest rates at which p99 stays below some bounds. */
export interface RateSearch {
  /** Returns the next rate to look at; null at the end. */
  next(): number | null;
  seen(rate: number, p99Ms: number): void;
  /** Returns the highest rate whose p99 was below each bound, 0 without one. */
  rates(): readonly number[];
}

/** Returns a search between 0 and the highest rate of a system that is never idle. */
export function newRateSearch(bounds: readonly number[], highest: number): RateSearch {
  const looks: { readonly rate: number; readonly p99Ms: number }[] = [];

  /** The highest rate below the bound, and the lowest one above it that is higher. */
  function limits(bound: number) {
    const low = Math.max(0, ...looks.filter(({ p99Ms }) => p99Ms < bound).map(({ rate }) => rate));
    const above = looks.filter(({ rate, p99Ms }) => p99Ms >= bound && rate > low);
    return { low, high: Math.min(highest, ...above.map(({ rate }) => rate)) };
  }

  return {
    next() {
      const open = bounds.map(limits)
        .find(({ low, high }) => high - low > highest * PRECISION_RATIO);
      return open === undefined ? null : (open.low + open.high) / 2;
    },
    seen: (rate, p99Ms) => void looks.push({ rate, p99Ms }),
    rates: () => bounds.map((bound) => limits(bound).low),
  };
}

/**
 * Sends calls at this rate, whatever the system does. Returns p99 from the moment at which each was
 * due, and how late the load took each up, in milliseconds.
 */
async function lookAt(
  port: number,
  rate: number,
  clock: Clock,
): Promise<{ readonly p99Ms: number; readonly lateMs: readonly number[] }> {
  const request = encodePost(CHAT, chatRequest("json", 1_000), {});
  const clients = await Promise.all(
    Array.from({ length: CONNECTION_COUNT }, () => newHttpClient(port)),
  );
  const idle = [...clients];
  const due: number[] = [];
  const times: number[] = [];
  const lateMs: number[] = [];
  const running = new Set<Promise<void>>();

  async function call(client: HttpClient): Promise<void> {
    for (let at = due.shift(); at !== undefined; at = due.shift()) {
      const { status } = await client.exchange(request);
      if (status !== 200) throw new Error(`rates: status ${status}: ${client.body()}`);
      times.push(performance.now() - at);
    }
    idle.push(client);
  }

  const began = performance.now();
  const dueAt = (call: number) => began + call * 1000 / rate;
  const count = Math.floor(rate * LOOK_S);
  for (let begun = 0; begun < count;) {
    const now = performance.now();
    for (; begun < count && dueAt(begun) <= now; begun++) {
      due.push(dueAt(begun));
      lateMs.push(now - dueAt(begun));
    }
    while (due.length > 0 && idle.length > 0) {
      const client = idle.pop();
      if (client === undefined) break;
      const calling: Promise<void> = call(client).finally(() => running.delete(calling));
      running.add(calling);
    }
    if (begun < count) await clock.until(dueAt(begun));
  }
  await Promise.all(running);
  for (const client of clients) client[Symbol.dispose]();
  return { p99Ms: quantile(times.toSorted((a, b) => a - b), 0.99), lateMs };
}

/**
 * Time before a moment that is spent in rounds of the event loop, in milliseconds: the system wakes
 * a thread so late, and the runtime's timers. Measured: rounds of 2 ms take the processor from the
 * provider, whose calls then take twice as long.
 */
const SLEEP_ERROR_MS = 0.4, TIMER_ERROR_MS = 2;

interface Clock extends Disposable {
  /** Waits for a moment of `performance.now()`. */
  until(moment: number): Promise<void>;
}

/** Returns a clock that is as precise as the system's; without a C library it has only timers. */
function newClock(): Clock {
  const path = libcPath();
  const libc = path === undefined ? null : Deno.dlopen(path, {
    usleep: { parameters: ["u32"], result: "i32", nonblocking: true },
  });

  async function sleep(ms: number): Promise<void> {
    if (libc === null) await new Promise((go) => setTimeout(go, ms - TIMER_ERROR_MS));
    else if (ms > SLEEP_ERROR_MS) {
      await libc.symbols.usleep(Math.round((ms - SLEEP_ERROR_MS) * 1000));
    }
  }

  return {
    async until(moment) {
      await sleep(moment - performance.now());
      while (performance.now() < moment) await new Promise((go) => setImmediate(go));
    },
    [Symbol.dispose]: () => libc?.close(),
  };
}

/** Returns the report line: the rates of both, their ratio, and how late the load began calls. */
export function ratesLine({ floor, gateway, lateMs }: RatesResult): string {
  const rateText = (rate: number) => rate === 0 ? "none" : `${rate.toFixed(0)}/s`;
  const figures = P99_BOUNDS_MS.map((bound, at) => {
    const [base = 0, measured = 0] = [floor[at], gateway[at]];
    const ratio = base === 0 ? "-" : (measured / base).toFixed(2);
    return `${bound} ms ${rateText(measured)} (floor ${rateText(base)}, ${ratio})`;
  });
  const late = [0.5, 0.99].map((share) =>
    lateMs.length === 0 ? "-" : quantile(lateMs, share).toFixed(2)
  );
  return `rates  highest with p99 below ${figures.join(", ")}; the load was ${late[0]} ms late ` +
    `at p50, ${late[1]} ms at p99`;
}
