import type { Generation } from "../call/generation.ts";
import type { World } from "../core/world.ts";
import { type CallReport, isBilled, newTrace, type Sink } from "../observe/report.ts";
import { MAX_RING_CALLS, newCallRing, newSlowCalls } from "./call_ring.ts";
import { attemptsOf, finishedView, isStreaming, markOf } from "./call_views.ts";
import { newPrivacyWindow, type PrivacyTotals } from "./privacy_window.ts";
import { newProviderWindow, type ProviderCounts } from "./provider_window.ts";
import { type FirstContent, newRouteWindow, type RouteCounts } from "./route_window.ts";
import { type KeyRate, type KeyRates, newKeyRates, newSecondRing } from "./second_ring.ts";
import type { SecondView, Snapshot } from "./snapshot.ts";

/**
 * Calls on the admin page: counters of 15 minutes, running calls, the last finished ones, and the
 * last ones that failed, were not sent, were refused or were slow.
 */
export interface Feed {
  /** Receives the report of a call that begins. */
  began(report: CallReport): void;
  /** Receives the report of each finished call. */
  readonly sink: Sink;
  /** Number of calls that have finished since the process began. */
  readonly finishedCount: number;
  /**
   * Returns the finished calls with higher numbers, newest first, as far as they are stored, and
   * apart the older ones that have a mark. Those take places of the newest, unless the number is 0.
   */
  finishedSince(number: number): Pick<Snapshot, "finished" | "notable">;
  /** Reports of the running calls, oldest first. */
  running(): Iterable<Readonly<CallReport>>;
  readonly runningCount: number;
  /** Returns the ended seconds from this one on. */
  secondsFrom(second: number): readonly SecondView[];
  provider(id: string): ProviderCounts;
  /** Returns the calls of a route by the keys of its targets. */
  route(name: string): ReadonlyMap<string, RouteCounts>;
  /** Returns the times to the first content of a target of a route, by its key. */
  firstContent(route: string, target: string): FirstContent;
  key(name: string): KeyRate;
  privacy(): PrivacyTotals;
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
  const privacy = newPrivacyWindow();
  const running = new Map<string, CallReport>();
  const slow = newSlowCalls((id) => providers.read(minuteNow(), id).p95Ms);
  const all = newCallRing();
  // A flood of calls of one kind must not push out those of another: an open circuit breaker keeps
  // back every call after the failures that have opened it.
  const marked = {
    failed: newCallRing(),
    not_sent: newCallRing(),
    refused: newCallRing(),
    slow: newCallRing(),
  };
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
    const second = Math.floor(endedAtMs / 1000), minute = Math.floor(endedAtMs / 60_000);
    const { usage, ms, provider } = report;
    const client = report.measured?.client ?? report.client;
    const isSlow = provider !== null && ms.firstByte !== null &&
      slow.isSlow(second, provider, ms.firstByte);
    const view = finishedView(++finishedCount, endedAtMs, report, isSlow);
    all.add(view);
    const mark = markOf(view);
    if (mark !== null) marked[mark].add(view);
    const { outcome } = view;
    const inputTokens = usage?.input ?? 0;
    const outputTokens = usage?.output ?? 0;
    seconds.add(second, {
      outcome,
      firstTokenMs: ms.firstToken,
      inputTokens,
      outputTokens,
      usd: costOf(report),
    });
    for (const { provider, outcome, began, ended } of attemptsOf(report)) {
      providers.add(minute, provider, outcome, ended - began);
    }
    if (outcome === "complete") routes.add(minute, generation(), report, "served");
    else if (outcome === "failed" || outcome === "not_sent") {
      routes.add(minute, generation(), report, "failed");
    }
    if (report.privacy !== null) privacy.add(minute, report.privacy);
    if (client !== null) {
      keys.add(second, client, report.charge?.tokens ?? inputTokens + outputTokens);
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
      const newest = all.since(number);
      const later = Object.values(marked).flatMap((ring) => ring.since(number))
        .sort((one, other) => other.number - one.number);
      const olderThan = (first: number | undefined) =>
        later.filter((one) => first !== undefined && one.number < first);
      const places = number === 0
        ? MAX_RING_CALLS
        : Math.max(1, MAX_RING_CALLS - olderThan(newest.at(-1)?.number).length);
      const finished = newest.slice(0, places);
      return { finished, notable: olderThan(finished.at(-1)?.number) };
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
    firstContent: (route, target) => routes.firstContent(minuteNow(), route, target),
    key: (name) => keys.read(secondNow(), name),
    privacy: () => privacy.read(minuteNow()),
    close: () => cancel(),
  };
}

/**
 * True for health probes and scrapes of metrics. They are no calls of a client, and every few
 * seconds one of them would take a place among the last finished calls.
 */
function isOperational({ endpoint: { api, path } }: Readonly<CallReport>): boolean {
  return api === null && path !== "";
}

/** Returns the cost of a call in USD, 0 for one that is not billed; null if it is not known. */
function costOf(report: Readonly<CallReport>): number | null {
  const { cost, usage, units } = report;
  return cost ?? (usage !== null || units !== null || isBilled(report) ? null : 0);
}

/** Returns the milliseconds until the next second of the clock begins. */
export function untilNextSecond({ wall }: Pick<World, "wall">): number {
  return 1_000 - Math.floor(wall()) % 1_000;
}
