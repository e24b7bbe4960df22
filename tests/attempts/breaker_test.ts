import { ConnectionError } from "../../src/core/failure/connection_error.ts";
import { accessFields } from "../../src/observe/access_log.ts";
import { newReport } from "../../src/observe/report.ts";
import { assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, type Got, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { samplesNamed } from "../observe/exposition.ts";
import { streamOf } from "../support/pieces.ts";
import { scriptedWorld } from "../support/world.ts";
import { config, type Setting, STREAM, verdictAndTarget } from "./two_targets.ts";

const OPEN = [503, "upstream_error", "circuit_open"];
const BREAKER = "failure_threshold: 1, open_duration: 10s, half_open_max_requests: 1";

/** A gateway whose first provider answers as the test sets it from call to call. */
function gatewayOf(setting: Partial<Setting> = {}) {
  const state = { answer: () => answers(501, ""), sent: 0 };
  const world = scriptedWorld({
    fetch(url) {
      if (url.startsWith("http://other")) return answers(200, COMPLETION);
      state.sent++;
      return state.answer();
    },
  });
  const gateway = testGateway(config({ first: "http://up", breaker: BREAKER, ...setting }), world);
  const ask = async (options: Parameters<typeof chatRequest>[0] = {}): Promise<Got> =>
    await got(
      await gateway.app(chatRequest({ ...options, body: { model: "x", ...options.body } })),
    );
  return { ...gateway, world, state, ask };
}

Deno.test("an open breaker without another target is 503 circuit_open with Retry-After", async () => {
  const { ask, state, world } = gatewayOf();
  assertEquals((await ask()).status, 501);
  await world.advance(1500);
  const answer = await ask();
  assertEquals(verdictAndTarget(answer), [...OPEN, "first/x"]);
  assertEquals(answer.error.param, null);
  assertEquals(answer.headers.get("retry-after"), "9");
  assertEquals(state.sent, 1);
});

Deno.test("a call to an open breaker is not retried but falls back", async () => {
  const retry = "max_attempts: 3, initial_delay: 1h, max_delay: 2h";
  const { ask, state } = gatewayOf({ second: "http://other", retry });
  for (let call = 0; call < 3; call++) {
    assertEquals(verdictAndTarget(await ask()), [200, undefined, undefined, "second/y"]);
  }
  assertEquals(state.sent, 1);
});

Deno.test("every attempt counts for the breaker, and a breaker that opens within a call ends its retries", async () => {
  const retry = "max_attempts: 5, initial_delay: 0s";
  const { ask, state, world } = gatewayOf({ retry, breaker: "failure_threshold: 2" });
  state.answer = () => answers(503, "");
  const waiting = ask();
  await world.advance(100);
  assertEquals(verdictAndTarget(await waiting), [...OPEN, "first/x"]);
  assertEquals(state.sent, 2);
});

Deno.test("a breaker that opens within a call ends its retries without their delay", async () => {
  const retry = "max_attempts: 3, initial_delay: 5s, jitter_factor: 0";
  const { ask, state, reports } = gatewayOf({ second: "http://other", retry });
  state.answer = () => answers(503, "");
  assertEquals(verdictAndTarget(await ask()), [200, undefined, undefined, "second/y"]);
  assertEquals(reports[0]?.ms.total, 0);
  assertEquals(state.sent, 1);
  assertEquals(accessFields(reports[0] ?? newReport("", "", "", 0)).retries, 0, "none was sent");
});

Deno.test("a retry delay longer than the open breaker is waited for, and the retry is the breaker's trial", async () => {
  const retry = "max_attempts: 2, initial_delay: 12s, jitter_factor: 0";
  const { ask, state, world } = gatewayOf({ retry });
  state.answer = () => answers(state.sent === 1 ? 503 : 200, COMPLETION);
  const waiting = ask();
  await world.advance(12_000);
  assertEquals((await waiting).status, 200);
  assertEquals(state.sent, 2);
});

Deno.test("after open_duration a trial passes: a success closes, a failure opens again", async () => {
  const { ask, state, world } = gatewayOf();
  await ask();
  await world.advance(10_000);
  assertEquals((await ask()).status, 501);
  assertEquals((await ask()).error.code, "circuit_open");
  await world.advance(10_000);
  state.answer = () => answers(200, COMPLETION);
  assertEquals((await ask()).status, 200);
  state.answer = () => answers(400, "");
  assertEquals((await ask()).status, 400);
  assertEquals((await ask()).status, 400);
});

Deno.test("a half-open breaker lets only its trials pass, and a client that disconnects gives the trial back", async () => {
  const { ask, state, world } = gatewayOf();
  await ask();
  await world.advance(10_000);
  const client = new AbortController();
  state.answer = () =>
    new Promise((_resolve, reject) =>
      client.signal.addEventListener("abort", () => reject(new TypeError("cut")))
    );
  const leaving = ask({ signal: client.signal });
  await world.advance(0);
  assertEquals((await ask()).error.code, "circuit_open");
  client.abort();
  assertEquals((await leaving).status, 499);
  state.answer = () => answers(200, COMPLETION);
  assertEquals((await ask()).status, 200);
});

Deno.test("a bug gives the trial back too", async () => {
  const { ask, state, world } = gatewayOf();
  await ask();
  await world.advance(10_000);
  // A body that is no byte stream cannot be opened: opening it throws.
  state.answer = () => Promise.resolve(new Response(ReadableStream.from([new Uint8Array(1)])));
  assertEquals((await ask()).error.code, "internal_error");
  state.answer = () => answers(200, COMPLETION);
  assertEquals((await ask()).status, 200);
  assertEquals(world.waiting, 0);
});

Deno.test("a client that disconnects never trips the breaker", async () => {
  const { ask, state } = gatewayOf();
  const client = new AbortController();
  state.answer = () => {
    client.abort();
    return Promise.reject(new TypeError("cut"));
  };
  assertEquals((await ask({ signal: client.signal })).status, 499);
  state.answer = () => answers(200, COMPLETION);
  assertEquals((await ask()).status, 200);
});

Deno.test("a stream that breaks after delivery began is not retried, and opens the breaker", async () => {
  const retry = "max_attempts: 3, initial_delay: 0s";
  const { ask, state } = gatewayOf({ retry, second: "http://other" });
  const cut = new TextEncoder().encode(STREAM[0]?.replace('"stop"', "null") ?? "");
  state.answer = () => Promise.resolve(new Response(streamOf([cut])));
  const answer = await ask({ body: { stream: true } });
  assertEquals(answer.status, 200);
  assertEquals(answer.headers.get("x-gateway-provider"), "first");
  assertEquals(answer.text.match(/"upstream_stream_error"/g)?.length, 1);
  assertEquals(answer.text.endsWith("data: [DONE]\n\n"), true);
  assertEquals(state.sent, 1);
  assertEquals((await ask()).headers.get("x-gateway-provider"), "second");
  assertEquals(state.sent, 1);
});

Deno.test("a stream that is complete is a success for the breaker", async () => {
  const { ask, state } = gatewayOf({ breaker: "failure_threshold: 2" });
  const whole = new TextEncoder().encode(STREAM.join(""));
  await ask();
  state.answer = () => Promise.resolve(new Response(streamOf([whole])));
  assertEquals((await ask({ body: { stream: true } })).text.includes("error"), false);
  state.answer = () => answers(501, "");
  await ask();
  assertEquals((await ask()).status, 501);
});

Deno.test("failures of the connection count for the account, over all its models and providers", async () => {
  const { ask, state } = gatewayOf({ second: "http://up" });
  state.answer = () => Promise.reject(new ConnectionError("refused", "no"));
  assertEquals(verdictAndTarget(await ask()), [...OPEN, "second/y"]);
  assertEquals(state.sent, 1);
});

/** A gateway with a model `broken`, which fails, and a fallback `good` with the same key. */
function brokenModel(threshold: number) {
  const sent: string[] = [];
  const world = scriptedWorld({
    async fetch(_url, init) {
      const { model } = JSON.parse(await new Response(init.body ?? null).text());
      sent.push(model);
      if (model === "bad request") return await answers(400, "");
      return await (model === "good" ? answers(200, COMPLETION) : answers(501, ""));
    },
  });
  const gateway = testGateway(
    `
providers:
  up: {type: compat, base_url: "http://up", api_key: k}
routing:
  routes:
    - name: broken
      match: {models: [broken]}
      targets: [{provider: up, model: broken}]
      fallback: [{provider: up, model: good}]
    - name: any
      targets: [{provider: up}]
retry: {enabled: false}
circuit_breaker: {failure_threshold: ${threshold}, open_duration: 10s}
`,
    world,
  );
  const ask = async (model: string) =>
    await got(await gateway.app(chatRequest({ body: { model } })));
  return { ...gateway, ask, sent };
}

Deno.test("a broken model opens its breaker although a fallback model on the same key serves", async () => {
  const { ask, sent, gateway } = brokenModel(3);
  for (let n = 0; n < 5; n++) assertEquals((await ask("broken")).status, 200);
  assertEquals(sent.filter((model) => model === "broken").length, 3);
  assertEquals(sent.filter((model) => model === "good").length, 5);
  assertEquals((await ask("good")).status, 200, "other models are served");
  const states = samplesNamed(await gateway.metrics.scrape(), "gateway_circuit_breaker_state");
  assertEquals(
    states,
    { '{provider="up"}': 2 },
    "the provider shows the breaker that admits least",
  );
});

Deno.test("models that the file does not name share one breaker", async () => {
  const { ask, sent } = brokenModel(3);
  for (const model of ["a", "b", "c"]) assertEquals((await ask(model)).status, 501);
  assertEquals((await ask("d")).error.code, "circuit_open");
  assertEquals((await ask("good")).status, 200);
  assertEquals(sent, ["a", "b", "c", "good"]);
});

Deno.test("a 400 does not reset the count of failures", async () => {
  const { ask } = brokenModel(3);
  for (const model of ["a", "b", "bad request"]) await ask(model);
  assertEquals((await ask("c")).status, 501);
  assertEquals((await ask("d")).error.code, "circuit_open");
});

Deno.test("a breaker that is switched off lets everything pass", async () => {
  const { ask, state } = gatewayOf({ breaker: "enabled: false, failure_threshold: 1" });
  for (let call = 0; call < 10; call++) assertEquals((await ask()).status, 501);
  assertEquals(state.sent, 10);
});
