import { newFeed } from "../../src/admin/feed.ts";
import { UNKNOWN_ENDPOINT } from "../../src/core/endpoint.ts";
import { fault, refuse } from "../../src/core/result.ts";
import { compile } from "../../src/gateway/compile.ts";
import { type Attempt, type CallReport, newReport } from "../../src/observe/report.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const GENERATION = compile(configOf(oneProvider("http://up")), 1);

function newTestFeed() {
  const world = scriptedWorld();
  const feed = newFeed(world, () => GENERATION);
  let calls = 0;

  /** A call that begins and ends now, with these facts. */
  function call(facts: Partial<CallReport> = {}, firstToken = 100) {
    const report: CallReport = {
      ...newReport(`call-${++calls}`, "POST", "/v1/chat/completions", world.now()),
      route: "main",
      provider: "up",
      model: "m",
      status: 200,
      ...facts,
    };
    Object.assign(report.ms, { firstByte: firstToken, firstToken });
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

Deno.test("a second counts calls, failures, tokens, cost and times; clients that leave are no failures", async () => {
  const { world, feed, call, second } = newTestFeed();
  const usage = { input: 10, output: 5, cached: 0, cacheWrite: 0, reasoning: 0, total: 15 };
  call({ usage: { ...usage }, cost: 0.5 });
  call({ failure: fault("upstream_timeout", "late").failure });
  call({ failure: fault("client_cancelled", "gone").failure });
  const first = second();
  assertEquals(feed.secondsFrom(0), [], "the second has not ended");
  await world.advance(1_000);
  const [view] = feed.secondsFrom(0);
  assertEquals(view, {
    second: first,
    calls: 3,
    failures: 1,
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
  assertEquals(feed.secondsFrom(0).map(({ calls, failures }) => [calls, failures]), [[1, 1]]);
});

Deno.test("the time to the first token is that of calls that a route or provider served", async () => {
  const { world, feed, call } = newTestFeed();
  call({}, 100);
  for (let lists = 0; lists < 5; lists++) call({ route: null, provider: null, model: null }, 1);
  await world.advance(1_000);
  const [second] = feed.secondsFrom(0);
  assertEquals([second?.calls, second?.firstTokenP50Ms], [6, 104.5]);
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
  const all = feed.finishedSince(0);
  assertEquals(all.length, 100);
  assertEquals([all[0]?.number, all[0]?.access["request_id"], all.at(-1)?.number], [
    250,
    "call-250",
    151,
  ]);
  assertEquals(feed.finishedSince(248).map(({ number }) => number), [250, 249]);
  assertEquals(feed.finishedSince(250), []);
  assertEquals(feed.finishedCount, 250);
  feed.close();
});

Deno.test("attempts are counted by provider and outcome, with the times of successful ones, for 15 minutes", async () => {
  const { world, feed, call } = newTestFeed();
  feed.close();
  call({ attempts: [attempt("upstream_timeout", 5_000), attempt("success", 200)] });
  await world.advance(60_000);
  call({ attempts: [attempt("success", 200)] });
  assertEquals(feed.provider("up"), {
    attempts: 3,
    outcomes: { upstream_timeout: 1, success: 2 },
    p50Ms: 216.7,
    p95Ms: 216.7,
  });
  await world.advance(14 * 60_000);
  assertEquals(feed.provider("up").attempts, 1, "the first minute is over");
  await world.advance(60_000);
  assertEquals(feed.provider("up"), { attempts: 0, outcomes: {}, p50Ms: null, p95Ms: null });
});

Deno.test("models that clients invent do not enlarge what is stored", () => {
  const { feed, call } = newTestFeed();
  for (let count = 0; count < 1_000; count++) {
    call({ model: `model-${count}`, path: `/v1/${count}`, client: null });
    call({ model: `model-${count}`, provider: `none-${count}`, route: `none-${count}` });
  }
  assertEquals([...feed.route("main").values()], [1_000], "all belong to the one target");
  assertEquals(feed.route("none-1").size, 0);
  assertEquals(feed.finishedSince(0).length, 100);
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
  const [stored] = feed.finishedSince(0);
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
    trace: { targets, records: 0 },
    attempts: [
      { ...attempt("upstream_timeout", 1), provider: "p90" },
      { ...attempt("success", 1), provider: "p119" },
    ],
  });
  const listed = feed.finishedSince(0)[0]?.targets.map(({ provider }) => provider) ?? [];
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
    const seconds = feed.secondsFrom(0);
    assert(seconds.length <= 900, `${seconds.length}`);
    assert(seconds.every(({ second }) => second >= wallMs / 1000 - 900));
    const counted = seconds.reduce((sum, { calls }) => sum + calls, 0);
    assert(feed.provider("up").attempts <= counted);
    assertEquals(feed.finishedSince(0).length, Math.min(100, sent));
    assertEquals([feed.finishedCount, feed.runningCount], [sent, 0]);
  }
  wallMs += 900_000;
  assertEquals(feed.secondsFrom(0), []);
  assertEquals([feed.provider("up").attempts, feed.route("main").size], [0, 0]);
  assertEquals(feed.key("key-0"), { requests: 0, tokens: 0 });
  feed.close();
});
