import type { FinishedCall, Snapshot } from "../../src/admin/snapshot.ts";
import { showAlways, showOnce } from "../../src/cli/top_screen.ts";
import { nextView, renderTop } from "../../src/cli/top_text.ts";
import { durationText, figure } from "../../src/cli/top_words.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { configFile, ran, testTerminal, whileServing } from "./test_terminal.ts";
import { run } from "../../src/cli/run.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";

const NO_USE = { calls: 0, input: 0, output: 0, cached: 0, nanoUsd: 0, estimated: 0 };
const AT_MS = Date.parse("2026-11-22T18:00:00Z");

const FINISHED: FinishedCall = {
  number: 1,
  endedAtMs: AT_MS - 500,
  access: {
    path: "/v1/chat/completions",
    status: 200,
    end: "complete",
    client: "ada",
    route: "main",
    provider: "openai",
    model: "gpt",
  },
  outcome: "complete",
  failure: null,
  targets: [],
  attempts: [],
  verified: [],
  lossy: [],
  usd: 0.1,
  firstByteMs: 100,
  firstTokenMs: 100,
  totalMs: 1_234,
};

const SNAPSHOT: Snapshot = {
  version: "1.2.3",
  atMs: AT_MS,
  uptimeMs: 3 * 3_600_000 + 120_000,
  generation: 4,
  isDraining: true,
  gatewayUrl: "http://127.0.0.1:8080",
  requiresKey: true,
  keyHeader: { name: "Authorization", prefix: "Bearer" },
  exampleModel: null,
  refusedReload: { atMs: AT_MS, lines: ["routing.routes: is required (line 3, column 1)"] },
  warnings: ["admin.port: is odd (line 2, column 4)"],
  store: {
    engine: "valkey",
    isUp: false,
    awaySinceMs: AT_MS - 90_000,
    pingMs: 0.2,
    pendingWrites: 7,
    objects: [{ name: "responses", entries: 5, bytes: 9 }],
  },
  records: null,
  privacy: null,
  seconds: [{
    second: AT_MS / 1000 - 1,
    calls: 90,
    failures: 6,
    refusals: 12,
    notSent: 3,
    firstTokenP50Ms: 120,
    firstTokenP95Ms: 2_500,
    inputTokens: 600,
    outputTokens: 60_000,
    usd: 0.01,
    openStreams: 1,
  }],
  providers: [{
    id: "openai",
    type: "compat",
    breaker: "open",
    opensInMs: 12_000,
    attempts: 10,
    outcomes: { success: 8, upstream_timeout: 2 },
    notSent: { circuit_open: 3 },
    p50Ms: 100,
    p95Ms: 900,
    running: 2,
    queued: 0,
    maxConcurrent: 5,
    keys: [
      { name: "a", isUsed: true, restsForMs: 5, opensInMs: null },
      { name: "b", isUsed: true, restsForMs: null, opensInMs: null },
      { name: "c", isUsed: true, restsForMs: null, opensInMs: 5 },
      { name: "d", isUsed: false, restsForMs: null, opensInMs: null },
    ],
  }],
  routes: [{
    name: "main",
    match: "any path, any model",
    strategy: "weighted",
    calls: 5,
    failed: 1,
    targets: [{
      provider: "openai",
      model: null,
      share: 1,
      calls: 4,
      failed: 1,
      servedShare: 0.75,
      cachedShare: null,
      firstContent: { p50Ms: null, p95Ms: null, p99Ms: null },
    }],
    fallbacks: [
      {
        provider: "local",
        model: "l",
        share: null,
        calls: 1,
        failed: 0,
        servedShare: 0.25,
        cachedShare: null,
        firstContent: { p50Ms: null, p95Ms: null, p99Ms: null },
      },
    ],
  }],
  runningCount: 1,
  running: [{
    id: "1",
    path: "/v1/responses",
    client: null,
    route: "main",
    provider: "openai",
    model: "evil\u001b[2J\u202e\u009b",
    ageMs: 61_000,
    phase: "streaming",
    records: 12,
    tries: 1,
  }],
  finishedCount: 1,
  finished: [FINISHED],
  notable: [],
  keys: [{
    name: "ada",
    group: null,
    isDisabled: false,
    requestsPerMinute: 3,
    tokensPerMinute: 40,
    maxRequestsPerMinute: 60,
    maxTokensPerMinute: null,
    groupRates: [{ scope: "team", tokensPerMinute: 700, maxTokensPerMinute: 900 }],
    running: 1,
    maxConcurrent: 2,
    budgets: [{ scope: "ada", period: "day", spentUsd: 1.5, limitUsd: 2 }],
    tokenBudgets: [{ scope: "team", period: "month", spent: 15, limit: 500 }],
    today: NO_USE,
  }],
};

/** A sequence that selects a style. */
const STYLE = new RegExp(`${RegExp.escape("\x1b[")}\\d+m`, "g");

const WIDE = { columns: 120, rows: null, isColoured: false };

Deno.test("top shows head, problems, providers, calls, keys and routes as tables", () => {
  assertEquals(
    renderTop(nextView(null, SNAPSHOT), WIDE).join("\n"),
    [
      "Switchyard 1.2.3  live, draining  up 3h 2m  generation 4  http://127.0.0.1:8080",
      "Calls: 1.5/s, failures 0.1/s, refused 0.2/s, not sent 0.05/s, running 1, finished 1",
      "First token: p50 120 ms, p95 2.5 s; tokens in 10/s, out 1000/s; cost 0.6 USD/h",
      "State: valkey, away for 1m 30s, 7 writes wait",
      "",
      "The last reload was refused; the earlier configuration is in use:",
      "  routing.routes: is required (line 3, column 1)",
      "",
      "Warning: admin.port: is odd (line 2, column 4)",
      "",
      "PROVIDER  BREAKER    ATTEMPTS  FAILED  P50     P95     RUNNING  KEYS",
      "openai    open 12 s  10        2       100 ms  900 ms  2/5      1/4",
      "",
      "RUNNING  CLIENT  ROUTE  TARGET                            PHASE      RECORDS  TRIES  PATH",
      "1m 1s    -       main   openai/evil\\u001b[2J\\u202e\\u009b  streaming  12       1      /v1/responses",
      "",
      "KEY  REQUESTS/MIN  TOKENS/MIN        RUNNING  BUDGETS",
      "ada  3/60          40, team 700/900  1/2      ada day 1.5/2 USD, team month 15/500 tokens",
      "",
      "ROUTE  TARGET            SHARE  SERVED  CALLS  FAILED",
      "main   openai/*          100%   75%     4      1 (25%)",
      "       fallback local/l  -      25%     1      0",
      "",
      "FINISHED  STATUS  END       CLIENT  ROUTE  TARGET      TOTAL  TRIES  PATH",
      "17:59:59  200     complete  ada     main   openai/gpt  1.2 s  0      /v1/chat/completions",
    ].join("\n"),
  );
});

Deno.test("top shows no cost if no model has a known price", () => {
  const [second] = SNAPSHOT.seconds;
  if (second === undefined) throw new Error("the snapshot has no second");
  const cost = (seconds: readonly (number | null)[]) => {
    const unpriced = { ...SNAPSHOT, seconds: seconds.map((usd) => ({ ...second, usd })) };
    return /cost (.*)/.exec(renderTop(nextView(null, unpriced), WIDE)[2] ?? "")?.[1];
  };
  assertEquals([cost([null, null]), cost([null, 0.01]), cost([0]), cost([])], [
    "-",
    "0.6 USD/h",
    "0 USD/h",
    "0 USD/h",
  ]);
});

Deno.test("top cuts its lines to a narrow terminal and its tables to the rows", () => {
  const lines = renderTop(nextView(null, SNAPSHOT), { ...WIDE, columns: 20, rows: 12 });
  assertEquals(lines.length, 12);
  for (const line of lines) assert(line.length <= 20, line);
  assertEquals(renderTop(nextView(null, SNAPSHOT), { ...WIDE, columns: 1, rows: 1 }), ["S"]);
});

Deno.test("top escapes every character that a terminal would act on, with and without colours", () => {
  for (const isColoured of [true, false]) {
    const text = renderTop(nextView(null, SNAPSHOT), { ...WIDE, isColoured }).join("\n");
    const plain = text.replace(STYLE, "");
    assertEquals(plain.length < text.length, isColoured);
    assertEquals([...plain.replaceAll("\n", "").matchAll(/\p{Cc}/gu)], []);
  }
});

Deno.test("top adds what is new in the stream to what it has, within the last minute", () => {
  const first = nextView(null, SNAPSHOT);
  const later = { ...SNAPSHOT, atMs: AT_MS + 30_000, seconds: [], finished: [] };
  const second = nextView(first, later);
  assertEquals([second.seconds.length, second.finished.length], [1, 1]);
  const third = nextView(second, { ...later, atMs: AT_MS + 61_000, finished: [FINISHED] });
  assertEquals([third.seconds.length, third.finished.length], [0, 2]);
  let many = third;
  for (let count = 0; count < 50; count++) many = nextView(many, SNAPSHOT);
  assertEquals(many.finished.length, 20);
});

Deno.test("top says that the connection is lost, and that no call is running", () => {
  const lost = { ...nextView(null, { ...SNAPSHOT, running: [] }), isLive: false };
  const text = renderTop(lost, WIDE).join("\n");
  assertMatch(text, /connection lost, draining/);
  assertMatch(text, /\nNo call is running\.\n/);
});

Deno.test("top counts the calls of a connection that is back once, though its first snapshot has them again", () => {
  const first = nextView(null, SNAPSHOT);
  const back = nextView({ ...first, isLive: false }, SNAPSHOT);
  assertEquals([back.seconds, back.finished], [SNAPSHOT.seconds, SNAPSHOT.finished]);
});

Deno.test("top escapes control characters in the words of a hostile server, such as its version", () => {
  const evil = { ...SNAPSHOT, version: "1\x1b]0;evil\x07\x9b2J\n" };
  const lines = renderTop(nextView(null, evil), WIDE);
  assertMatch(lines[0] ?? "", /^Switchyard 1\\u001b\]0;evil\\u0007\\u009b2J\\u000a /);
});

/** Runs a task with the URL of a server that answers every request with the given function. */
async function whileHostile(
  respond: (request: Request) => Response,
  task: (url: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, respond);
  try {
    await task(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}

/** Returns an endless body of one letter after the first text. */
function endless(first: string): ReadableStream<Uint8Array> {
  const piece = new Uint8Array(1 << 20).fill("a".charCodeAt(0));
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(first)),
    pull: (controller) => controller.enqueue(piece),
  });
}

Deno.test("top refuses a server whose answer is no snapshot, incomplete or without an end, and restores the screen", async () => {
  const lists = { seconds: [], providers: [], routes: [], running: [], finished: [], keys: [] };
  const incomplete = JSON.stringify(lists);
  const odd = JSON.stringify({ ...SNAPSHOT, providers: [null] });
  const bodies: readonly (() => ReadableStream<Uint8Array> | string)[] = [
    () => `data: ${incomplete}\n\n`,
    () => `data: ${odd}\n\n`,
    () => "data: [1]\n\n",
    () => endless("data: "),
  ];
  for (const body of bodies) {
    await whileHostile(() => new Response(body()), async (url) => {
      const terminal = { ...testTerminal(), size: () => ({ columns: 60, rows: 9 }) };
      assertEquals(await run(["top", "--url", url], terminal), 1);
      assertMatch(terminal.written.err, /is not the address of an admin page\.\n$/);
      assert(terminal.written.out.endsWith("\x1b[?25h\x1b[?1049l"));
    });
  }
  for (const body of [() => incomplete, () => odd, () => "[1]", () => endless("{")]) {
    await whileHostile(() => new Response(body()), async (url) => {
      const { code, err, out } = await ran(["top", "--url", url]);
      assertEquals([code, out], [1, ""]);
      assertMatch(err, /is not the address of an admin page\.\n$/);
    });
  }
});

Deno.test("top says that the connection is lost when a stream ends after a snapshot or sends a record without an end", async () => {
  const whole = `data: ${JSON.stringify(SNAPSHOT)}\n\n`;
  for (const body of [() => whole, () => endless(`${whole}data: `)]) {
    await whileHostile(() => new Response(body()), async (url) => {
      const terminal = { ...testTerminal(), size: () => ({ columns: 60, rows: 9 }) };
      const running = run(["top", "--url", url], terminal);
      await terminal.printed(/live[^]*connection lost/);
      terminal.end();
      assertEquals(await running, 0);
    });
  }
});

/** Returns a world with real requests whose timers run when the test says so. */
function worldWithTimers() {
  const real = newRealWorld();
  const timers = new Set<() => void>();
  return {
    send: real.send,
    after(_ms: number, task: () => void) {
      timers.add(task);
      return () => timers.delete(task);
    },
    runTimers: () => timers.forEach((task) => task()),
    [Symbol.dispose]: () => real.close(),
  };
}

Deno.test("top says that the connection is lost when a server falls silent, and connects again", async () => {
  using world = worldWithTimers();
  const first = new TextEncoder().encode(`data: ${JSON.stringify(SNAPSHOT)}\n\n`);
  const silent = () =>
    new Response(new ReadableStream({ start: (controller) => controller.enqueue(first) }));
  await whileHostile(silent, async (url) => {
    const terminal = { ...testTerminal(), size: () => ({ columns: 60, rows: 9 }) };
    const running = showAlways({ ok: true, url, headers: {} }, world, terminal);
    await terminal.printed(/live/);
    world.runTimers();
    await terminal.printed(/live[^]*connection lost/);
    world.runTimers();
    await terminal.printed(/live[^]*connection lost[^]*live/);
    terminal.end();
    assertEquals(await running, 0);
  });
});

Deno.test("top ends where stdout is no terminal and the server does not complete its answer", async () => {
  using world = worldWithTimers();
  const started = Promise.withResolvers<void>();
  const silent = () =>
    new Response(new ReadableStream({ pull: () => started.resolve() }, { highWaterMark: 0 }));
  await whileHostile(silent, async (url) => {
    const terminal = testTerminal();
    const running = showOnce({ ok: true, url, headers: {} }, world, terminal);
    await started.promise;
    world.runTimers();
    assertEquals([await running, terminal.written.out], [1, ""]);
    assertMatch(terminal.written.err, /^(Nothing answers at|http:)/);
  });
});

Deno.test("top follows no redirect, so that the password reaches one server only", async () => {
  const reached: string[] = [];
  await whileHostile((request) => {
    reached.push(new URL(request.url).pathname);
    return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
  }, async (url) => {
    const { code, err } = await ran(["top", "--url", url], { SWITCHYARD_ADMIN_PASSWORD: "a" });
    assertEquals([code, reached], [1, ["/snapshot"]]);
    assertMatch(err, /answers with status 302; is it the address of an admin page\?\n$/);
  });
});

Deno.test("top writes durations and figures with their units", () => {
  const durations = [null, 0.25, 9.96, 999, 1_500, 59_940, 61_000, 3_600_000, 90_000_000];
  assertEquals(durations.map(durationText), [
    "-",
    "0.3 ms",
    "10 ms",
    "999 ms",
    "1.5 s",
    "59.9 s",
    "1m 1s",
    "1h 0m",
    "1d 1h",
  ]);
  assertEquals([0, 0.00012345, 1.23456, 99.96, 123.6, 54_321].map(figure), [
    "0",
    "0.000123",
    "1.23",
    "100",
    "124",
    "54321",
  ]);
});

const FILE = `server: {port: 0}
admin: {enabled: true, port: 0, password: correct-horse-battery}
providers:
  one: {type: compat, base_url: "http://127.0.0.1:1", api_key: secret-of-one}
routing: {routes: [{name: all, targets: [{provider: one}]}]}
`;

Deno.test("top prints one snapshot and ends where stdout is no terminal, with a password from the environment or a file", async () => {
  using file = await configFile(FILE);
  using password = await configFile("correct-horse-battery\n");
  await whileServing(["--config", file.path], async (terminal) => {
    const [, url = ""] = await terminal.printed(/Admin page: (\S+)\n/);
    const environment = { SWITCHYARD_ADMIN_PASSWORD: "correct-horse-battery" };
    for (
      const one of [
        await ran(["top", "--url", url], environment),
        await ran(["top", "--url", url, "--password", password.path]),
      ]
    ) {
      assertEquals([one.code, one.err], [0, ""]);
      assertMatch(one.out, /^Switchyard .* live [^]*\none +closed/);
    }
    const refused = await ran(["top", "--url", url]);
    assertEquals(refused.code, 1);
    assertMatch(refused.err, /requires its password: set SWITCHYARD_ADMIN_PASSWORD/);
  });
});

Deno.test("top draws each snapshot on a terminal until a stop signal, and restores the screen", async () => {
  using file = await configFile(FILE.replace(", password: correct-horse-battery", ""));
  await whileServing(["--config", file.path], async (serving) => {
    const [, url = ""] = await serving.printed(/Admin page: (\S+)\n/);
    const terminal = {
      ...testTerminal({ NO_COLOR: "1" }),
      size: () => ({ columns: 60, rows: 9 }),
    };
    const running = run(["top", "--url", url], terminal);
    await terminal.printed(/live[^]*Switchyard[^]*live/);
    terminal.end();
    assertEquals(await running, 0);
    const { out } = terminal.written;
    assert(out.startsWith("\x1b[?1049h\x1b[?25l") && out.endsWith("\x1b[?25h\x1b[?1049l"));
    // A model in wide characters must not continue in the next row.
    assert(out.indexOf("\x1b[?7l") < out.indexOf("Switchyard"), "lines are cut at the edge");
    assert(out.lastIndexOf("\x1b[?7h") > out.lastIndexOf("Switchyard"), "and no longer at the end");
    assertEquals(out.replace(STYLE, ""), out, "no colours with NO_COLOR");
    assert(!out.includes("connection lost"));
  });
});

Deno.test("top says what to do when the admin page is off, has no known port or does not answer", async () => {
  using off = await configFile(FILE.replace("enabled: true", "enabled: false"));
  assertEquals(
    (await ran(["top", "--config", off.path])).err,
    `The admin page is off in ${off.path}: set admin.enabled to true and restart the gateway.\n`,
  );
  const two = FILE.replace("{port: 0}", "{port: 0, workers: 2}").replace(
    "enabled: true",
    "enabled: false",
  );
  using workers = await configFile(`${two}state: {store: none}\n`);
  assertEquals(
    (await ran(["top", "--config", workers.path])).err,
    `The admin page is off in ${workers.path}: set admin.enabled to true, server.workers to 1, and restart the gateway.\n`,
  );
  using free = await configFile(FILE);
  assertMatch((await ran(["top", "--config", free.path])).err, /name it with --url\.\n$/);
  using silent = await configFile(FILE.replace("true, port: 0", "true, port: 1"));
  const { code, err } = await ran(["top", "--config", silent.path]);
  assertEquals(code, 1);
  assertMatch(err, /^Nothing answers at http:\/\/127\.0\.0\.1:1: set admin\.enabled to true/);
  for (const url of ["x", "file:///a", "http://me:secret@h"]) {
    const refused = await ran(["top", "--url", url]);
    assertEquals(refused.code, 1);
    assertMatch(refused.err, /^--url must be an http or https URL without a password in it\.\n$/);
  }
  assertMatch((await ran(["top", "--password", "/nowhere"])).err, /--password does not exist/);
});
