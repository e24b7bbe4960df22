import type { Generation } from "../call/generation.ts";
import type { World } from "../core/world.ts";
import { type CallReport, endOf, type Sink } from "../observe/report.ts";
import { newTrace } from "../observe/trace.ts";
import { attemptsOf, finishedView, isStreaming } from "./call_views.ts";
import { type KeyRate, type KeyRates, newKeyRates } from "./key_rates.ts";
import { newProviderWindow, type ProviderCounts } from "./provider_window.ts";
import { newRouteWindow } from "./route_window.ts";
import { newSecondRing } from "./second_ring.ts";
import type { FinishedCall, SecondView } from "./snapshot.ts";

/** Number of finished calls that are stored. */
export const MAX_FINISHED = 100;

/** What the admin page knows of calls: counters of 15 minutes, running calls, the last finished ones. */
export interface Feed {
  /** Receives the report of a call that begins. */
  began(report: CallReport): void;
  /** Receives the report of each finished call. */
  readonly sink: Sink;
  /** Number of calls that have finished since the process began. */
  readonly finishedCount: number;
  /** Returns the finished calls with higher numbers, newest first, as far as they are stored. */
  finishedSince(number: number): readonly FinishedCall[];
  /** Reports of the running calls, oldest first. */
  running(): Iterable<Readonly<CallReport>>;
  readonly runningCount: number;
  /** Returns the ended seconds from this one on. */
  secondsFrom(second: number): readonly SecondView[];
  provider(id: string): ProviderCounts;
  /** Returns the calls of a route by the keys of its targets. */
  route(name: string): ReadonlyMap<string, number>;
  key(name: string): KeyRate;
  /** Ends the count of open streams. */
  close(): void;
}

/** Returns a feed without calls. `generation` is the current configuration. */
export function newFeed(
  world: Pick<World, "wall" | "after">,
  generation: () => Generation,
): Feed {
  const seconds = newSecondRing();
  const providers = newProviderWindow();
  const routes = newRouteWindow();
  const keys: KeyRates = newKeyRates();
  const running = new Map<string, CallReport>();
  const finished: FinishedCall[] = [];
  let finishedCount = 0;
  let countedSecond = secondNow() - 1;
  let cancel = world.after(untilNextSecond(world), countEverySecond);

  function secondNow(): number {
    return Math.floor(world.wall() / 1000);
  }

  function minuteNow(): number {
    return Math.floor(world.wall() / 60_000);
  }

  /** Counts the open streams of the second that has just ended, once. */
  function countStreams() {
    const ended = secondNow() - 1;
    if (ended === countedSecond) return;
    countedSecond = ended;
    let open = 0;
    for (const report of running.values()) if (isStreaming(report)) open++;
    if (open > 0) seconds.setStreams(ended, open);
  }

  function countEverySecond() {
    countStreams();
    cancel = world.after(untilNextSecond(world), countEverySecond);
  }

  function sink(report: Readonly<CallReport>) {
    if (isOperational(report)) return;
    running.delete(report.id);
    const endedAtMs = world.wall();
    const minute = Math.floor(endedAtMs / 60_000);
    const view = finishedView(finishedCount + 1, endedAtMs, report);
    finished[finishedCount++ % MAX_FINISHED] = view;
    const { usage, failure, ms, client } = report;
    const inputTokens = usage?.input ?? 0;
    const outputTokens = usage?.output ?? 0;
    seconds.add(Math.floor(endedAtMs / 1000), {
      isFailure: failure !== null && endOf(report) !== "client_gone",
      firstTokenMs: failure === null && isServed(report) ? ms.firstToken ?? ms.firstByte : null,
      inputTokens,
      outputTokens,
      usd: report.cost ?? 0,
    });
    for (const { provider, outcome, began, ended } of attemptsOf(report)) {
      providers.add(minute, provider, outcome, ended - began);
    }
    if (failure === null) routes.add(minute, generation(), report);
    if (client !== null) {
      keys.add(
        Math.floor(endedAtMs / 1000),
        client,
        report.charge?.tokens ?? inputTokens + outputTokens,
      );
    }
  }

  return {
    began(report) {
      if (isOperational(report)) return;
      report.trace = newTrace();
      running.set(report.id, report);
    },
    sink,
    get finishedCount() {
      return finishedCount;
    },
    finishedSince(number) {
      const count = Math.min(finishedCount - number, finished.length);
      return Array.from({ length: Math.max(0, count) }, (_, back) => {
        return finished[(finishedCount - 1 - back) % MAX_FINISHED];
      }).filter((one) => one !== undefined);
    },
    running: () => running.values(),
    get runningCount() {
      return running.size;
    },
    secondsFrom(second) {
      // The timer of a reader may fire before that of the feed, and a second is sent only once.
      countStreams();
      return seconds.read(second, secondNow());
    },
    provider: (id) => providers.read(minuteNow(), id),
    route: (name) => routes.read(minuteNow(), name),
    key: (name) => keys.read(secondNow(), name),
    close: () => cancel(),
  };
}

/**
 * True for health probes and scrapes of metrics. They are no calls of a client, and every few seconds
 * one of them would take a place among the last finished calls.
 */
function isOperational({ endpoint: { api, path } }: Readonly<CallReport>): boolean {
  return api === null && path !== "";
}

/** True if a route or provider served the call: a list of models has no first token. */
function isServed({ route, provider }: Readonly<CallReport>): boolean {
  return (route ?? provider) !== null;
}

/** Returns the milliseconds until the next second of the clock begins. */
export function untilNextSecond({ wall }: Pick<World, "wall">): number {
  return 1_000 - Math.floor(wall()) % 1_000;
}
