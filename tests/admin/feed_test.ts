import { isStreaming } from "../../src/admin/call_views.ts";
import { newFeed } from "../../src/admin/feed.ts";
import { UNKNOWN_ENDPOINT } from "../../src/core/endpoint.ts";
import { fault, refuse } from "../../src/core/failure/result.ts";
import { compile } from "../../src/gateway/compile.ts";
import { type Attempt, type CallReport, newReport } from "../../src/observe/report.ts";
import { configOf } from "../config/parse.ts";
import { reportOf } from "../observe/reports.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const GENERATION = compile(configOf(oneProvider("http://up")), 1);

function newTestFeed() {
  const world = scriptedWorld();
  const feed = newFeed(world, () => GENERATION);
  let calls = 0;

  /** A call that begins and ends now, with these facts. */
  function call(
    facts: Partial<CallReport> = {},
    firstByte = 100,
    firstToken: number | null = firstByte,
  ) {
    const report: CallReport = {
      ...newReport(`call-${++calls}`, "POST", "/v1/chat/completions", world.now()),
      route: "main",
      provider: "up",
      model: "m",
      status: 200,
      ...facts,
    };
    Object.assign(report.ms, { firstByte, firstToken });
    feed.began(report);
    if (facts.trace !== undefined) report.trace = facts.trace;
    feed.sink(report);
  }

  return { world, feed, call, second: () => Math.floor(world.wall() / 1000) };
}

function attempt(outcome: Attempt["outcome"], ended: number): Attempt {
  const rest = { key: null, isRotated: false, cause: null, number: 1, began: 0 };
  return { provider: "up", model: "m", outcome, ended, ...rest };
}

Deno.test("a second counts calls by what became of them, tokens, cost and times; clients that leave are no failures", async () => {
  const { world, feed, call, second } = newTestFeed();
  const usage = { input: 10, output: 5, cached: 0, cacheWrite: 0, reasoning: 0, total: 15 };
  call({ usage: { ...usage }, cost: 0.5 });
  call({ failure: fault("upstream_timeout", "late").failure });
  call({ failure: fault("client_cancelled", "gone").failure });
  call({ failure: refuse("budget_exceeded", "spent").failure });
  call({ failure: fault("circuit_open", "open").failure });
  const first = second();
  assertEquals(feed.secondsFrom(0), [], "the second has not ended");
  await world.advance(1_000);
  const [view] = feed.secondsFrom(0);
  assertEquals(view, {
    second: first,
    calls: 5,
    failures: 1,
    refusals: 1,
    notSent: 1,
    inputTokens: 10,
    outputTokens: 5,
    usd: 0.5,
    openStreams: 0,
    firstTokenP50Ms: 104.5,
    firstTokenP95Ms: 104.5,
  });
  assertEquals(feed.secondsFrom(first + 1), [], "a reader gets a second once");
  feed.close();
  assertEquals(world.waiting, 0);
});

Deno.test("health probes and scrapes of metrics are no calls; unknown paths are", async () => {
  const { world, feed, call } = newTestFeed();
  const none = { route: null, provider: null, model: null };
  const endpoint = { ...UNKNOWN_ENDPOINT, path: "/health" };
  call({ ...none, endpoint });
  feed.began({ ...newReport("scrape", "GET", "/metrics", 0), endpoint });
  assertEquals([feed.finishedCount, feed.runningCount], [0, 0]);
  call({ ...none, failure: refuse("unknown_url", "No such path.").failure });
  assertEquals(feed.finishedCount, 1);
  await world.advance(1_000);
  assertEquals(feed.secondsFrom(0).map(({ calls, refusals }) => [calls, refusals]), [[1, 1]]);
});

Deno.test("the time to the first token is that of streams, also of those that break, and of no whole response", async () => {
  const { world, feed, call } = newTestFeed();
  call({}, 100);
  call({ failure: fault("upstream_idle", "silent").failure, brokeOff: true }, 100);
  for (let whole = 0; whole < 5; whole++) call({}, 9_000, null);
  await world.advance(1_000);
  const [second] = feed.secondsFrom(0);
  assertEquals([second?.calls, second?.firstTokenP50Ms, second?.firstTokenP95Ms], [
    7,
    104.5,
    104.5,
  ]);
});

Deno.test("the cost of a second is null if no call of it has a known cost, and 0 if no call is billed", async () => {
  const { world, feed, call } = newTestFeed();
  const endpoint = { ...UNKNOWN_ENDPOINT, isBilled: true };
  const usage = { input: 10, output: 5, cached: 0, cacheWrite: 0, reasoning: 0, total: 15 };
  const seconds: Partial<CallReport>[][] = [
    [{ usage }],
    [{ endpoint }],
    [{ usage, cost: 0.25 }, { usage }],
    [{ endpoint, cache: "HIT" }, { endpoint, failure: refuse("budget_exceeded", "no").failure }],
    [{ endpoint, usage, cost: 0 }],
  ];
  for (const calls of seconds) {
    for (const facts of calls) call(facts);
    await world.advance(1_000);
  }
  assertEquals(feed.secondsFrom(0).map(({ usd }) => usd), [null, null, 0.25, 0, 0]);
});

Deno.test("seconds are stored for 15 minutes, and those without calls are absent", async () => {
  const { world, feed, call } = newTestFeed();
  feed.close();
  call();
  await world.advance(899_000);
  call();
  await world.advance(1_000);
  assertEquals(feed.secondsFrom(0).length, 2);
  await world.advance(1_000);
  assertEquals(feed.secondsFrom(0).length, 1, "the first one is older than 15 minutes");
  await world.advance(900_000);
  assertEquals(feed.secondsFrom(0), []);
});

Deno.test("a reader whose timer fires before that of the feed gets the open streams of the ended second", () => {
  let wallMs = 5_000;
  const feed = newFeed({ wall: () => wallMs, after: () => () => {} }, () => GENERATION);
  const report = { ...newReport("s", "POST", "/v1/chat/completions", 0), stream: true };
  report.ms.firstByte = 1;
  feed.began(report);
  wallMs = 6_000;
  assertEquals(feed.secondsFrom(5).map((one) => one.openStreams), [1]);
  wallMs = 2_000;
  assertEquals(feed.secondsFrom(1).map((one) => one.openStreams), [1], "a clock that was set back");
});

Deno.test("open streams are counted at the end of each second, whether or not somebody reads", async () => {
  const { world, feed, second } = newTestFeed();
  const report = { ...newReport("s", "POST", "/v1/chat/completions", 0), stream: true };
  feed.began(report);
  const first = second();
  await world.advance(1_000);
  report.ms.firstByte = 1_500;
  await world.advance(2_000);
  assertEquals(
    feed.secondsFrom(0).map(({ second, openStreams }) => [second - first, openStreams]),
    [
      [1, 1],
      [2, 1],
    ],
  );
  feed.sink(report);
  assertEquals(feed.runningCount, 0);
  feed.close();
});

Deno.test("a reader gets each finished call once, newest first, and at most the last hundred", () => {
  const { feed, call } = newTestFeed();
  for (let count = 0; count < 250; count++) call();
  const { finished: all } = feed.finishedSince(0);
  assertEquals(all.length, 100);
  assertEquals([all[0]?.number, all[0]?.access["request_id"], all.at(-1)?.number], [
    250,
    "call-250",
    151,
  ]);
  assertEquals(feed.finishedSince(248).finished.map(({ number }) => number), [250, 249]);
  assertEquals(feed.finishedSince(250), { finished: [], notable: [] });
  assertEquals(feed.finishedCount, 250);
  feed.close();
});

Deno.test("attempts that were sent are counted by provider and outcome, with the times of successful ones, for 15 minutes; others apart", async () => {
  const { world, feed, call } = newTestFeed();
  feed.close();
  call({ attempts: [attempt("upstream_timeout", 5_000), attempt("success", 200)] });
  await world.advance(60_000);
  call({ attempts: [attempt("circuit_open", 0), attempt("success", 200)] });
  assertEquals(feed.provider("up"), {
    attempts: 3,
    outcomes: { upstream_timeout: 1, success: 2 },
    notSent: { circuit_open: 1 },
    p50Ms: 216.7,
    p95Ms: 216.7,
  });
  await world.advance(14 * 60_000);
  assertEquals(feed.provider("up").attempts, 1, "the first minute is over");
  await world.advance(60_000);
  assertEquals(feed.provider("up"), {
    attempts: 0,
    outcomes: {},
    notSent: {},
    p50Ms: null,
    p95Ms: null,
  });
});

Deno.test("models that clients invent do not enlarge what is stored", () => {
  const { feed, call } = newTestFeed();
  for (let count = 0; count < 1_000; count++) {
    call({ model: `model-${count}`, path: `/v1/${count}`, client: null });
    call({ model: `model-${count}`, provider: `none-${count}`, route: `none-${count}` });
  }
  assertEquals(
    [...feed.route("main").values()],
    [{ served: 1_000, failed: 0, input: 0, cached: 0, early: 0 }],
    "all belong to the one target",
  );
  assertEquals(feed.route("none-1").size, 0);
  assertEquals(feed.finishedSince(0).finished.length, 100);
  feed.close();
});

Deno.test("a finished call holds no long list or text of a client or provider", () => {
  const { feed, call } = newTestFeed();
  const paths = Array.from({ length: 10_000 }, (_, index) => `messages[${index}]`);
  const upstream = { status: 400, headers: {}, error: { message: "x".repeat(1e6) }, raw: null };
  call({
    model: "m".repeat(1e6),
    session: "s".repeat(1e6),
    lossy: paths,
    verified: paths,
    attempts: Array.from({ length: 200 }, () => attempt("success", 1)),
    failure: fault("upstream_rejected", "f".repeat(1e6), { upstream })
      .failure,
  });
  const [stored] = feed.finishedSince(0).finished;
  assertEquals([stored?.lossy.length, stored?.verified.length, stored?.attempts.length], [
    50,
    50,
    50,
  ]);
  assert(JSON.stringify(stored).length < 20_000);
  feed.close();
});

Deno.test("of the targets of a long route a finished call lists those that were used", () => {
  const { feed, call } = newTestFeed();
  const targets = Array.from({ length: 120 }, (_, at) => ({
    provider: `p${at}`,
    model: "m",
    isFallback: at >= 100,
    isChosen: at === 90,
    skipped: null,
  }));
  call({
    trace: { requestedModel: null, targets, records: 0 },
    attempts: [
      { ...attempt("upstream_timeout", 1), provider: "p90" },
      { ...attempt("success", 1), provider: "p119" },
    ],
  });
  const listed = feed.finishedSince(0).finished[0]?.targets.map(({ provider }) => provider) ?? [];
  assertEquals([listed.length, ...listed.slice(46)], [50, "p46", "p47", "p90", "p119"]);
  feed.close();
});

Deno.test("the rates of a client key are those of its last minute", async () => {
  const { world, feed, call } = newTestFeed();
  feed.close();
  call({ client: "ada", charge: { tokens: 30, nanoUsd: 0 } });
  await world.advance(59_000);
  call({ client: "ada", charge: { tokens: 12, nanoUsd: 0 } });
  assertEquals(feed.key("ada"), { requests: 2, tokens: 42 });
  assertEquals(feed.key("bob"), { requests: 0, tokens: 0 });
  await world.advance(1_000);
  assertEquals(feed.key("ada"), { requests: 1, tokens: 12 });
});

Deno.test("a day at a changing rate leaves the last 15 minutes and the last hundred calls", () => {
  let wallMs = Date.UTC(2026, 10, 22);
  // Seconds are counted when they are read, so that the clock needs no step for each of them.
  const feed = newFeed({ wall: () => wallMs, after: () => () => {} }, () => GENERATION);
  const minutes = 24 * 60;
  let sent = 0;
  for (let minute = 0; minute < minutes; minute++) {
    // From none at night to 40 a minute at noon.
    const rate = Math.round(20 - 20 * Math.cos((2 * Math.PI * minute) / minutes));
    for (let at = 0; at < rate; at++) {
      const report = newReport(`call-${++sent}`, "POST", "/v1/chat/completions", 0);
      const client = `key-${at % 3}`;
      const attempts = [attempt("success", 50)];
      Object.assign(report, { route: "main", provider: "up", model: "m", client, attempts });
      feed.began(report);
      feed.sink(report);
      wallMs += 1000;
    }
    wallMs += (60 - rate) * 1000;
    assertEquals([feed.finishedCount, feed.runningCount], [sent, 0]);
    // Windows of 15 minutes that overlap, each with other rates.
    if (minute % 7 !== 0) continue;
    const seconds = feed.secondsFrom(0);
    assert(seconds.length <= 900, `${seconds.length}`);
    assert(seconds.every(({ second }) => second >= wallMs / 1000 - 900));
    const counted = seconds.reduce((sum, { calls }) => sum + calls, 0);
    assert(feed.provider("up").attempts <= counted);
    assertEquals(feed.finishedSince(0).finished.length, Math.min(100, sent));
  }
  wallMs += 900_000;
  assertEquals(feed.secondsFrom(0), []);
  assertEquals([feed.provider("up").attempts, feed.route("main").size], [0, 0]);
  assertEquals(feed.key("key-0"), { requests: 0, tokens: 0 });
  feed.close();
});

Deno.test("a failed call is found again after any number of calls that succeed, are slow, refused or not sent", () => {
  const { feed, call } = newTestFeed();
  call({ attempts: [attempt("success", 100)] });
  const seen: number[] = [];
  const failure = fault("upstream_timeout", "late").failure;
  call({ failure });
  const slow = feed.finishedCount + 1;
  call({}, 5_000);
  for (let at = 0; at < 300; at++) call({ failure: refuse("invalid_api_key", "no").failure });
  for (let at = 0; at < 300; at++) call({ failure: fault("circuit_open", "open").failure });
  for (let at = 0; at < 10_000; at++) call();
  const { finished, notable } = feed.finishedSince(0);
  assertEquals(finished.length, 100);
  seen.push(...notable.map(({ number }) => number));
  assertEquals(notable.length, 202);
  assertEquals(seen.slice(-2), [slow, 2], "the newest first");
  assertEquals(notable.at(-1)?.code, "upstream_timeout");
  assertEquals(notable.at(-2)?.isSlow, true);
  assertEquals(notable.slice(99, 101).map(({ outcome }) => outcome), ["not_sent", "refused"]);
  for (let at = 0; at < 100; at++) call({ failure });
  const later = feed.finishedSince(0);
  assertEquals(later.notable.map(({ outcome }) => outcome).filter((one) => one === "failed"), []);
  assertEquals(later.finished.filter(({ outcome }) => outcome === "failed").length, 100);
  feed.close();
});

Deno.test("a reader gets each failed call once, and a snapshot at a high rate has about a hundred calls", () => {
  const { feed, call } = newTestFeed();
  const failure = fault("upstream_timeout", "late").failure;
  const failed: number[] = [], sizes: number[] = [];
  let read = 0;
  for (let second = 0; second < 20; second++) {
    for (let at = 0; at < 1_000; at++) call(at % 100 === 50 ? { failure } : {});
    const { finished, notable } = feed.finishedSince(read);
    read = feed.finishedCount;
    sizes.push(finished.length + notable.length);
    const numbers = [...finished, ...notable].map(({ number }) => number);
    assertEquals(numbers, numbers.toSorted((one, other) => other - one), "newest first");
    for (const one of [...finished, ...notable]) {
      if (one.outcome === "failed") failed.push(one.number);
    }
  }
  assertEquals(failed.length, 200);
  assertEquals(new Set(failed).size, 200);
  assert(Math.max(...sizes.slice(1)) <= 101, `${sizes}`);
  feed.close();
});

Deno.test("a call is slow from a second and three times the p95 of its provider on", () => {
  const { feed, call, world } = newTestFeed();
  feed.close();
  const isSlow = (firstByte: number, provider = "up") => {
    call({ provider }, firstByte);
    return feed.finishedSince(feed.finishedCount - 1).finished[0]?.isSlow ?? false;
  };
  assertEquals(isSlow(60_000), false, "nothing is known of the provider");
  return world.advance(1_000).then(() => {
    for (let at = 0; at < 100; at++) call({ attempts: [attempt("success", 1_000)] });
    assertEquals([isSlow(2_000), isSlow(4_000), isSlow(60_000, "other")], [false, true, false]);
    return world.advance(1_000);
  }).then(() => {
    for (let at = 0; at < 10_000; at++) call({ attempts: [attempt("success", 10)] });
    assertEquals([isSlow(900), isSlow(1_000)], [false, true]);
  });
});

Deno.test("a call that was refused, one that failed and one that was not sent have different outcomes", () => {
  const { feed, call } = newTestFeed();
  const timeout = attempt("upstream_timeout", 5), open = attempt("circuit_open", 6);
  const cases: readonly (readonly [Partial<CallReport>, string, string | undefined])[] = [
    [{}, "complete", undefined],
    [{ failure: refuse("unknown_model", "x").failure }, "refused", "model_not_found"],
    [{ failure: refuse("draining", "x").failure }, "refused", "draining"],
    [{ failure: fault("no_route", "x").failure }, "refused", "no_route"],
    [{ failure: fault("circuit_open", "x").failure, attempts: [open] }, "not_sent", "circuit_open"],
    [{ failure: fault("provider_busy", "x").failure }, "not_sent", "provider_busy"],
    [
      { failure: fault("circuit_open", "x").failure, attempts: [timeout, open] },
      "failed",
      "circuit_open",
    ],
    [{ failure: fault("upstream_timeout", "x").failure }, "failed", "upstream_timeout"],
    [{ failure: fault("state_unavailable", "x").failure }, "failed", "state_unavailable"],
    [{ failure: fault("client_cancelled", "x").failure }, "left", "client_cancelled"],
  ];
  for (const [facts] of cases) call(facts);
  const found = feed.finishedSince(0).finished.toReversed();
  assertEquals(
    found.map(({ outcome, code }) => [outcome, code]),
    cases.map(([, outcome, code]) => [outcome, code]),
  );
  const sent = found[6]?.attempts.map(({ notSent }) => notSent ?? false);
  assertEquals(sent, [false, true]);
  feed.close();
});

Deno.test("calls that failed on a route are counted at their last target, or at the route if they had none", () => {
  const { feed, call } = newTestFeed();
  call();
  call({ failure: fault("upstream_timeout", "late").failure });
  call({ failure: fault("circuit_open", "open").failure });
  call({ failure: fault("state_unavailable", "away").failure, provider: null, model: null });
  call({ failure: refuse("unsupported_feature", "no").failure, provider: null, model: null });
  call({ failure: fault("client_cancelled", "gone").failure });
  assertEquals([...feed.route("main").values()].map(({ served, failed }) => [served, failed]), [
    [1, 2],
    [0, 1],
  ]);
  feed.close();
});

Deno.test("the input tokens of a target's calls and those from the prompt cache are added up for 15 minutes", async () => {
  const { feed, call, world } = newTestFeed();
  const usage = { input: 100, output: 5, cached: 80, cacheWrite: 10, reasoning: 0, total: 105 };
  call({ usage });
  call({ usage: { ...usage, cached: 0 }, failure: fault("upstream_timeout", "late").failure });
  call();
  const [counts] = feed.route("main").values();
  assertEquals(counts, { served: 2, failed: 1, input: 200, cached: 80, early: 0 });
  await world.advance(15 * 60_000);
  assertEquals(feed.route("main").size, 0);
  feed.close();
});

Deno.test("the times to the first content of a target's streams are known for 15 minutes", async () => {
  const { feed, call, world } = newTestFeed();
  for (const firstContentMs of [100, 100, 2_000]) {
    call({ attempts: [{ ...attempt("success", 9_000), firstContentMs }] });
  }
  call({ attempts: [attempt("success", 50)] });
  const [key = ""] = feed.route("main").keys();
  const { p50Ms, p95Ms, p99Ms } = feed.firstContent("main", key);
  assert(p50Ms !== null && Math.abs(p50Ms - 100) < 15);
  assert(p95Ms !== null && Math.abs(p95Ms - 2_000) < 300);
  assertEquals(p99Ms, p95Ms);
  await world.advance(15 * 60_000);
  assertEquals(feed.firstContent("main", key).p50Ms, null);
  feed.close();
});

Deno.test("calls with an early head are counted at their route, and wait until their content", () => {
  const { feed, call } = newTestFeed();
  const ms = { earlyHead: 20, firstByte: 20, firstToken: null, upstream: 30, total: 40 };
  for (const firstToken of [30, null]) {
    const report = { stream: true, ms: { ...ms, firstToken } };
    call(report, 20, firstToken);
    assertEquals(isStreaming(reportOf(report)), firstToken !== null);
  }
  call();
  assertEquals(feed.route("main").values().reduce((sum, { early }) => sum + early, 0), 2);
  feed.close();
});

Deno.test("a ring of calls has a bound in bytes: the largest calls leave fewer of them", () => {
  const { feed, call } = newTestFeed();
  const text = "t".repeat(1_000);
  const targets = Array.from({ length: 50 }, () => ({
    provider: "up",
    model: text,
    isFallback: true,
    isChosen: false,
    skipped: text,
  }));
  const large: Partial<CallReport> = {
    failure: fault("upstream_timeout", "late").failure,
    trace: { requestedModel: text, targets, records: 0 },
    attempts: Array.from({ length: 50 }, () => ({ ...attempt("success", 1), model: text })),
    lossy: Array.from({ length: 50 }, () => text),
    verified: Array.from({ length: 50 }, () => text),
  };
  for (let at = 0; at < 300; at++) call(large);
  const { finished } = feed.finishedSince(0);
  assert(finished.length > 5 && finished.length < 20, `${finished.length}`);
  assert(JSON.stringify(finished).length < 1.5 * 1024 * 1024);
  for (let at = 0; at < 100; at++) call();
  assertEquals(feed.finishedSince(0).finished.length, 100);
  feed.close();
});
