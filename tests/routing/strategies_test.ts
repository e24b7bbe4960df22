import { type HeldGateway, heldGateway } from "../attempts/held_calls.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const OFF = "retry: {enabled: false}\ncircuit_breaker: {enabled: false}";

function configOver(strategy: string, targets: string): string {
  const provider = (id: string) => `  ${id}: {type: compat, base_url: "http://${id}"}\n`;
  return `
providers:
${["a", "b", "c"].map(provider).join("")}
routing:
  routes: [{name: r, strategy: ${strategy}, targets: ${targets}, fallback: [{provider: c}]}]
${OFF}
`;
}

function held(strategy: string, targets: string): HeldGateway {
  return heldGateway(configOver(strategy, targets));
}

function loadsOf({ gateway }: HeldGateway): readonly number[] {
  const { loads } = gateway.state;
  return ["a", "b", "c"].map((id) => loads.pending(`${id} compat m`));
}

Deno.test("least-pending spreads calls that run at the same time by weight, streams included", async () => {
  const calls = held("least-pending", "[{provider: a, weight: 2}, {provider: b}]");
  const asked = Array.from({ length: 9 }, (_, n) => calls.asked({ body: { stream: n % 2 === 0 } }));
  await calls.world.advance(0);
  assertEquals(calls.sent.filter(({ host }) => host === "a").length, 6);
  assertEquals(loadsOf(calls), [6, 3, 0]);
  for (const call of calls.sent.filter(({ host }) => host === "b")) call.answer();
  await calls.world.advance(0);
  assertEquals(loadsOf(calls), [6, 0, 0]);
  const more = [calls.asked(), calls.asked(), calls.asked()];
  await calls.world.advance(0);
  assertEquals(calls.sent.slice(9).map(({ host }) => host), ["b", "b", "b"]);
  for (const call of calls.sent.filter(({ isOver }) => !isOver)) call.answer();
  await Promise.all([...asked, ...more]);
  assertEquals(loadsOf(calls), [0, 0, 0]);
});

Deno.test("a stream is pending until its end, and a call that is cancelled or falls back is not", async () => {
  const calls = held("least-pending", "[{provider: a}, {provider: b}]");
  const client = new AbortController();
  const left = calls.asked({ signal: client.signal });
  const failing = calls.asked();
  await calls.world.advance(0);
  assertEquals(loadsOf(calls), [1, 1, 0]);
  client.abort();
  assertEquals((await left).status, 499);
  assertEquals(loadsOf(calls), [0, 1, 0]);
  calls.oldest().answer(503, "{}");
  await calls.world.advance(0);
  assertEquals(loadsOf(calls), [1, 0, 0], "the other target is pending in its place");
  calls.oldest().answer();
  assertEquals((await failing).status, 200);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const streamed = calls.asked({ body: { stream: true } });
  await calls.world.advance(0);
  const stream = new ReadableStream<Uint8Array>({
    type: "bytes",
    async start(controller) {
      for await (const bytes of readable) controller.enqueue(new Uint8Array(bytes));
      controller.close();
    },
  });
  calls.oldest().respond(stream);
  const writer = writable.getWriter();
  const chunk = { choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] };
  await writer.write(
    new TextEncoder().encode(
      `data: ${
        JSON.stringify({
          id: "c",
          object: "chat.completion.chunk",
          created: 1,
          model: "m",
          ...chunk,
        })
      }\n\n`,
    ),
  );
  await calls.world.advance(0);
  assertEquals(loadsOf(calls).toSorted(), [0, 0, 1]);
  await writer.write(new TextEncoder().encode("data: [DONE]\n\n"));
  await writer.close();
  await streamed;
  assertEquals(loadsOf(calls), [0, 0, 0]);
});

Deno.test("loads are recorded only while the configuration has a strategy that uses them", async () => {
  const calls = held("weighted", "[{provider: a}]");
  const seen: (readonly [readonly number[], number | null])[] = [];
  for (const strategy of ["weighted", "sticky", "least-pending", "lowest-latency", "random"]) {
    calls.gateway.reload(configOf(configOver(strategy, "[{provider: a}]")));
    const asked = calls.asked();
    await calls.world.advance(0);
    const pending = loadsOf(calls);
    calls.oldest().answer();
    await asked;
    seen.push([pending, calls.gateway.state.loads.medianMs("a compat m")]);
  }
  assertEquals(seen, [
    [[0, 0, 0], null],
    [[0, 0, 0], null],
    [[1, 0, 0], 0],
    [[1, 0, 0], 0],
    [[0, 0, 0], 0],
  ]);
});

/** A gateway whose upstreams answer after these milliseconds, by host; null fails at once. */
function timed(
  strategy: string,
  times: Readonly<Record<string, number | null>>,
  random: readonly number[] = [],
  sessions = "agents",
) {
  const hosts: string[] = [];
  const world = scriptedWorld({
    random,
    async fetch(url) {
      const { hostname } = new URL(url);
      hosts.push(hostname);
      const ms = times[hostname] ?? null;
      if (ms === null) return await answers(503, { error: { message: "no" } });
      await new Promise<void>((resolve) => void world.after(ms, resolve));
      return await answers(200, COMPLETION);
    },
  });
  const ids = Object.keys(times);
  const { app, gateway } = testGateway(
    `
providers:
${ids.map((id) => `  ${id}: {type: compat, base_url: "http://${id}", timeout: 9s}\n`).join("")}
routing:
  default_strategy: ${strategy}
  sessions: ${sessions}
  routes: [{name: r, targets: [${ids.map((id) => `{provider: ${id}}`).join(", ")}]}]
${OFF}
`,
    world,
  );

  async function ask(headers: Readonly<Record<string, string>> = {}) {
    const asked = app(chatRequest({ headers }));
    await world.advance(1_000);
    await got(await asked);
    return hosts.at(-1) ?? "";
  }

  return { ask, loads: gateway.state.loads };
}

const NO_EXPLORATION = Array(100).fill(0.5);

Deno.test("lowest-latency measures each target once and then uses the fastest one", async () => {
  const times = { a: 300, b: 50, c: 900 };
  const { ask, loads } = timed("lowest-latency", times, NO_EXPLORATION);
  const first = [await ask(), await ask(), await ask()];
  assertEquals(first.toSorted(), ["a", "b", "c"]);
  assertEquals(["a", "b", "c"].map((id) => loads.medianMs(`${id} compat m`)), [300, 50, 900]);
  for (let n = 0; n < 5; n++) assertEquals(await ask(), "b");
});

Deno.test("a target that fails fast does not become the fastest one", async () => {
  const { ask, loads } = timed("lowest-latency", { a: null, b: 500 }, NO_EXPLORATION);
  await ask();
  await ask();
  assertEquals(["a", "b"].map((id) => loads.medianMs(`${id} compat m`)), [9_000, 500]);
  for (let n = 0; n < 5; n++) assertEquals(await ask(), "b");
});

Deno.test("a sticky session keeps its target in every replica, over reloads and in any order of the targets", async () => {
  const { ask } = timed("sticky", { a: 1, b: 1, c: 1 });
  const replica = timed("sticky", { c: 1, a: 1, b: 1 });
  const less = timed("sticky", { b: 1, a: 1 });
  const homes = new Set<string>();
  for (let n = 0; n < 12; n++) {
    const session = { "x-gateway-sessionid": `chat ${n}` };
    const home = await ask(session);
    homes.add(home);
    assertEquals([await ask(session), await replica.ask(session)], [home, home]);
    const rest = await less.ask(session);
    assertEquals(rest === home, home !== "c");
  }
  assertEquals(homes.size, 3);
});

Deno.test("a sticky session moves while the circuit breaker of its target is open, and comes back", async () => {
  const hosts: string[] = [];
  let isDown = "";
  const world = scriptedWorld({
    fetch(url) {
      const { hostname } = new URL(url);
      hosts.push(hostname);
      return hostname === isDown ? answers(503, "{}") : answers(200, COMPLETION);
    },
  });
  const { app } = testGateway(
    `
providers:
  a: {type: compat, base_url: "http://a"}
  b: {type: compat, base_url: "http://b"}
  c: {type: compat, base_url: "http://c"}
routing:
  routes: [{name: r, strategy: sticky, targets: [{provider: a}, {provider: b}, {provider: c}]}]
retry: {enabled: false}
circuit_breaker: {failure_threshold: 1, open_duration: 10s}
`,
    world,
  );
  const ask = async () => {
    await got(await app(chatRequest({ headers: { "x-gateway-sessionid": "s" } })));
    return hosts.at(-1) ?? "";
  };
  const home = await ask();
  isDown = home;
  const other = await ask();
  assert(other !== home);
  assertEquals(hosts, [home, home, other]);
  assertEquals([await ask(), await ask()], [other, other]);
  isDown = "";
  await world.advance(10_000);
  assertEquals([await ask(), await ask()], [home, home]);
});

Deno.test("without a session the client key is sticky, and without both the weights decide", async () => {
  const hosts: string[] = [];
  const world = scriptedWorld({
    fetch(url) {
      hosts.push(new URL(url).hostname);
      return answers(200, COMPLETION);
    },
  });
  const names = Array.from({ length: 8 }, (_, n) => `team-${n}`);
  const keys = names.map((name) => `{name: ${name}, value: key-${name}}`).join(", ");
  const config = (security: string) => `
providers:
  a: {type: compat, base_url: "http://a"}
  b: {type: compat, base_url: "http://b"}
routing:
  routes: [{name: r, strategy: sticky, targets: [{provider: a}, {provider: b}]}]
${security}
`;
  const keyed = testGateway(config(`security: {enabled: true, api_key: {keys: [${keys}]}}`), world);
  const ask = async (app: typeof keyed.app, headers: Readonly<Record<string, string>>) => {
    await got(await app(chatRequest({ headers })));
    return hosts.at(-1) ?? "";
  };
  const homes: string[] = [];
  for (const name of names) {
    const headers = { authorization: `Bearer key-${name}` };
    const home = await ask(keyed.app, headers);
    assertEquals([await ask(keyed.app, headers), await ask(keyed.app, headers)], [home, home]);
    homes.push(home);
  }
  assertEquals(new Set(homes).size, 2);
  const [first = ""] = names;
  const sessions = new Set<string>();
  for (let n = 0; n < 12; n++) {
    const headers = { authorization: `Bearer key-${first}`, "x-gateway-sessionid": `s${n}` };
    sessions.add(await ask(keyed.app, headers));
  }
  assertEquals(sessions.size, 2, "a session comes before the client key");
  const open = testGateway(config(""), world);
  const before = hosts.length;
  for (let n = 0; n < 4; n++) await ask(open.app, {});
  assertEquals(hosts.slice(before), ["a", "b", "a", "b"]);
});

/** The same turn of one conversation, as agents with sessions of their own send it. */
const AGENT_TURNS = [
  { headers: { "x-claude-code-session-id": "s" } },
  { headers: { "session-id": "s" } },
  { headers: { "x-session-affinity": "s" } },
  { body: { prompt_cache_key: "s" } },
];

Deno.test("a sticky session is the one that an agent names, apart for each client key", async () => {
  const hosts: string[] = [];
  const world = scriptedWorld({
    fetch(url) {
      hosts.push(new URL(url).hostname);
      return answers(200, COMPLETION);
    },
  });
  const keys = Array.from({ length: 8 }, (_, n) => `{name: k${n}, value: key-${n}}`);
  const targets = "[{provider: a}, {provider: b}, {provider: c}]";
  const config = configOver("sticky", targets);
  const security = `security: {enabled: true, api_key: {keys: [${keys.join(", ")}]}}`;
  const { app, reports } = testGateway(`${config}${security}`, world);
  const homes = new Set<string>();
  for (const [n] of keys.entries()) {
    const authorization = `Bearer key-${n}`;
    const from = hosts.length;
    for (const { headers = {}, body = {} } of AGENT_TURNS) {
      await got(await app(chatRequest({ headers: { ...headers, authorization }, body })));
    }
    assertEquals(new Set(hosts.slice(from)).size, 1, "the name counts, not where it stands");
    homes.add(hosts.at(-1) ?? "");
  }
  assertEquals(homes.size, 3, "the same name with another key is another session");
  assertEquals(reports.slice(0, 4).map(({ session, sessionFrom }) => [session, sessionFrom]), [
    ["s", "claude-code"],
    ["s", "codex"],
    ["s", "opencode"],
    ["s", "prompt_cache_key"],
  ]);
});

Deno.test("with sessions: header the names of agents are not sticky", async () => {
  const { ask } = timed("sticky", { a: 1, b: 1, c: 1 }, [], "header");
  const asked = [await ask({ "session-id": "s" }), await ask({ "session-id": "s" })];
  assertEquals(new Set(asked).size, 2);
});

Deno.test("the shares of a weighted route stay exact with sessions", async () => {
  const { ask } = timed("weighted", { a: 1, b: 1, c: 1 });
  const hosts: string[] = [];
  for (let n = 0; n < 12; n++) hosts.push(await ask({ "x-gateway-sessionid": "one" }));
  assertEquals(hosts, Array.from({ length: 4 }, () => hosts.slice(0, 3)).flat());
  assertEquals(new Set(hosts).size, 3);
});
