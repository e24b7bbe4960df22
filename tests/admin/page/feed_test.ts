import fc from "fast-check";
import { MAX_SECONDS, NO_FEED, shared, withSnapshot } from "../../../src/admin/page/feed.js";
import { alignSeconds, CHARTS, legendValue, minutesOf } from "../../../src/admin/page/series.js";
import { AT_MS, BUSY, busySeconds, EMPTY, finishedCall } from "../../support/admin_snapshots.ts";
import { assert, assertEquals } from "../../support/assert.ts";

/** A gateway that has run for longer than the charts show. */
const UPTIME_MS = 3_600_000;

Deno.test("the page stores 900 seconds and the newest 100 finished calls, however long it is open", () => {
  const first = busySeconds(AT_MS);
  let feed = withSnapshot(NO_FEED, { ...EMPTY, seconds: first }, true);
  for (let at = 1; at <= 1000; at++) {
    const atMs = AT_MS + at * 1000;
    const seconds = first.slice(-1).map((one) => ({ ...one, second: one.second + at }));
    const finished = Array.from({ length: 100 }, (_, of) => finishedCall(at * 100 - of));
    feed = withSnapshot(feed, { ...EMPTY, atMs, seconds, finished }, false);
  }
  assertEquals([feed.seconds.length, feed.finished.length], [MAX_SECONDS, 100]);
  assertEquals(feed.finished[0]?.number, 100_000);
  assertEquals(feed.seconds.at(-1)?.second, AT_MS / 1000 + 999);
});

Deno.test("the first snapshot of a connection replaces what the page had of another process", () => {
  const before = withSnapshot(NO_FEED, { ...EMPTY, finished: [finishedCall(7)] }, true);
  const next = withSnapshot(before, { ...EMPTY, finished: [finishedCall(1)] }, false);
  assertEquals(next.finished.map(({ number }) => number), [1, 7]);
  const restarted = withSnapshot(next, { ...EMPTY, finished: [finishedCall(2)] }, true);
  assertEquals(restarted.finished.map(({ number }) => number), [2]);
});

Deno.test("seconds without calls are gaps of the charts, and their minutes add up", () => {
  const last = AT_MS / 1000 - 1;
  const one = {
    second: last,
    calls: 10,
    failures: 5,
    refusals: 2.5,
    notSent: 0,
    firstTokenP50Ms: 100,
    firstTokenP95Ms: 300,
    inputTokens: 600,
    outputTokens: 60,
    usd: 0.6,
    openStreams: 4,
  };
  const seconds = [{ ...one, second: last - 30 }, one];
  const { times, began, all } = alignSeconds(seconds, AT_MS, UPTIME_MS);
  assertEquals([times.length, times.at(-1), all.filter(Boolean).length], [900, last, 2]);
  const newest = CHARTS.map((chart) => chart.values(all).map((line) => line.at(-1)));
  assertEquals(newest, [[2, 1, 0.5, 0], [100, 300], [120, 12], [0.02 * 3600], [4]]);
  const before = CHARTS.map((chart) => chart.values(all).map((line) => line.at(-10)));
  assertEquals(before, [[0, 0, 0, 0], [null, null], [0, 0], [0.01 * 3600], [4]]);
  const [newestMinute] = minutesOf(seconds, last, began);
  assert(newestMinute !== undefined);
  assertEquals([newestMinute.minute, newestMinute.lengthS], [Math.floor(last / 60), 60]);
  assertEquals(CHARTS.map((chart) => chart.ofMinute(newestMinute)), [
    [20 / 60, 10 / 60, 5 / 60, 0],
    [100, 300],
    [20, 2],
    [1.2 * 60],
    [4],
  ]);
});

Deno.test("rates of a minute that has not ended, or is no longer whole, are those of its seconds", () => {
  const start = AT_MS / 1000;
  const seconds = [start - 893, start + 4].map((second) => ({
    second,
    calls: 20,
    failures: 10,
    refusals: 0,
    notSent: 5,
    firstTokenP50Ms: null,
    firstTokenP95Ms: null,
    inputTokens: 100,
    outputTokens: 50,
    usd: 0.01,
    openStreams: 0,
  }));
  const minutes = minutesOf(seconds, start + 4, 0);
  assertEquals(minutes.map(({ lengthS }) => lengthS), [5, 55]);
  const rates = minutes.map((minute) => CHARTS.map((chart) => chart.ofMinute(minute)[0]));
  assertEquals(rates, [[4, null, 20, 7.2, 0], [20 / 55, null, 100 / 55, 0.01 / 55 * 3600, 0]]);
});

Deno.test("a snapshot has all parts that did not change as the same objects as the one before it", () => {
  const before = withSnapshot(NO_FEED, BUSY, true);
  const equal = withSnapshot(before, structuredClone(BUSY), false);
  assert(equal.snapshot === before.snapshot);
  const [provider] = BUSY.providers;
  const changed = structuredClone({ ...BUSY, providers: [provider, EMPTY.providers[0]] });
  const { snapshot } = withSnapshot(before, { ...BUSY, ...changed } as typeof BUSY, false);
  assert(snapshot?.routes === BUSY.routes && snapshot.providers[0] === provider);
  assertEquals(snapshot.providers.length, 2);
});

Deno.test("the page stores what a snapshot says, whatever was equal in the one before it", () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  fc.assert(fc.property(json, json, (before, next) => {
    const parsed = JSON.parse(JSON.stringify(next));
    assertEquals(shared(before, parsed), JSON.parse(JSON.stringify(next)));
    assert(Object.is(shared(next, structuredClone(next)), next) || Object.is(next, -0));
  }));
});

Deno.test("the page stores a hundred failed, unsent, refused and slow calls besides the newest hundred", () => {
  let feed = withSnapshot(NO_FEED, EMPTY, true);
  const kinds = [
    { outcome: "failed" },
    { outcome: "not_sent" },
    { outcome: "refused" },
    { isSlow: true },
  ] as const;
  for (let at = 1; at <= 300; at++) {
    const finished = Array.from({ length: 90 }, (_, of) => finishedCall(at * 1000 - of));
    const notable = kinds.map((kind, of) => finishedCall(at * 1000 - 100 - of, kind));
    feed = withSnapshot(feed, { ...EMPTY, finished, notable }, false);
  }
  const numbers = feed.finished.map(({ number }) => number);
  assertEquals(numbers, numbers.toSorted((one, other) => other - one));
  const count = (outcome: string) => feed.finished.filter((one) => one.outcome === outcome).length;
  assertEquals([count("failed"), count("not_sent"), count("refused")], [100, 100, 100]);
  assertEquals(feed.finished.filter(({ isSlow }) => isSlow).length, 100);
  assert(feed.finished.length <= 500);
});

Deno.test("a snapshot of an older gateway has no notable calls and refusals, and the page stores it", () => {
  const { notable: _notable, ...older } = { ...BUSY };
  const feed = withSnapshot(NO_FEED, older as typeof BUSY, true);
  assertEquals(feed.finished.length, BUSY.finished.length);
  const seconds = feed.seconds.map(({ refusals: _refusals, ...second }) => second);
  const { all } = alignSeconds(seconds as typeof feed.seconds, AT_MS, UPTIME_MS);
  assertEquals(CHARTS[0]?.values(all)[2]?.at(-1), 0);
});

Deno.test("nothing is drawn before the gateway began, and its first rates are those of the seconds since then", () => {
  const start = AT_MS / 1000;
  const [second] = busySeconds(AT_MS).slice(-1);
  assert(second !== undefined);
  const one = { ...second, second: start - 2, calls: 6, usd: 0.01 };
  const { began, all } = alignSeconds([one], AT_MS, 3_000);
  assertEquals(began, start - 3);
  for (const chart of CHARTS) {
    for (const line of chart.values(all)) {
      assertEquals(line.length, 900);
      assertEquals(line.findIndex((value) => value !== null) >= 897, true, chart.id);
    }
  }
  assertEquals(CHARTS[0]?.values(all)[0]?.slice(-4), [null, 0, 3, 2]);
  assertEquals(CHARTS[4]?.values(all)[0]?.slice(-3), [0, one.openStreams, one.openStreams]);
  const [minute] = minutesOf([one], start - 1, began);
  assertEquals(minute?.lengthS, 3);
});

Deno.test("the cost of models without a price is no number, and that of a gateway without calls is 0", () => {
  const seconds = busySeconds(AT_MS);
  const [, , , cost] = CHARTS;
  const costs = (usd: number | null) => {
    const { all, began } = alignSeconds(
      seconds.map((one) => ({ ...one, usd })),
      AT_MS,
      UPTIME_MS,
    );
    const [minute] = minutesOf(seconds.map((one) => ({ ...one, usd })), AT_MS / 1000 - 1, began);
    return [cost?.values(all)[0]?.at(-1), minute === undefined ? null : cost?.ofMinute(minute)[0]];
  };
  assertEquals(costs(null), [null, null]);
  assertEquals(costs(0), [0, 0]);
  assertEquals(costs(0.5).map((usd) => Math.round(usd ?? 0)), [1800, 1800]);
  const { all } = alignSeconds([], AT_MS, UPTIME_MS);
  assertEquals(cost?.values(all)[0]?.at(-1), 0);
});

Deno.test("the cost in the legend is that of now, not the 0 of the time before the first call", () => {
  const [, latency, , cost] = CHARTS;
  const written = (chart = CHARTS[0], pointed: number | null = null) =>
    chart && legendValue(chart, [0, 5, null], pointed);
  assertEquals([written(cost), written(cost, 1), written(cost, 2)], [null, 5, null]);
  // The time to the first token of the last stream stays.
  assertEquals([written(latency), written(latency, 0), written(latency, 2)], [5, 0, null]);
});
