import { isObject, type JsonObject, type JsonValue, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { streamOf } from "../support/pieces.ts";
import { testGateway } from "../support/gateway.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";

const SCHEMA = {
  type: "object",
  properties: { n: { type: "number" } },
  required: ["n"],
  additionalProperties: false,
};
const TOOL = { name: "f", parameters: SCHEMA, strict: true };
const CHAT = {
  model: "m",
  messages: [{ role: "user", content: "Hi" }],
  tools: [{ type: "function", function: TOOL }],
};
const RESPONSES = { model: "m", input: "Hi", tools: [{ type: "function", ...TOOL }] };

/** One record of a local runtime; the last one of a response if `done`. */
function record(message: JsonObject, done = false): string {
  return JSON.stringify({ model: "m", message, done, ...done && { done_reason: "stop" } });
}

function called(n: JsonValue): JsonObject {
  return { content: "", tool_calls: [{ function: { name: "f", arguments: { n } } }] };
}

const GOOD = record(called(1), true);
const BAD = record(called("one"), true);

const CONFIG = `
providers:
  up: {type: local, base_url: "http://up.test"}
  spare: {type: local, base_url: "http://spare.test"}
routing:
  routes: [{name: main, targets: [{provider: up}], fallback: [{provider: spare}]}]
retry: {initial_delay: 1ms, max_delay: 1ms, max_attempts: 2}
circuit_breaker: {failure_threshold: 1}
caching: {enabled: true}
`;

function responseOf(body: string): Response {
  return new Response(streamOf([new TextEncoder().encode(body)]));
}

/** A gateway whose upstreams give these bodies, one after the other, and then the last one again. */
function gatewayOf(config: string, ...bodies: readonly string[]) {
  const hosts: string[] = [];
  const fetch: Fetch = (url) => {
    hosts.push(new URL(url).host);
    const body = bodies[Math.min(hosts.length, bodies.length) - 1];
    return Promise.resolve(responseOf(body ?? ""));
  };
  const world = scriptedWorld({ fetch });
  const { app, gateway, reports } = testGateway(config, world);

  async function post(path: string, body: unknown): Promise<Response> {
    const request = new Request(`http://gateway.test/v1/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    const answering = app(request);
    await world.advance(50);
    return await answering;
  }

  return { post, hosts, reports, scrape: () => gateway.metrics.scrape() };
}

async function errorOf(response: Response): Promise<JsonObject> {
  const body: unknown = await response.json();
  assert(isObject(body) && isObject(body.error));
  return body.error;
}

Deno.test("a strict call is checked on a local runtime, and a header names it by the client's path", async () => {
  const { post } = gatewayOf(CONFIG, GOOD);
  const chat = await post("chat/completions", CHAT);
  assertEquals(chat.status, 200);
  assertEquals(chat.headers.get("x-gateway-verified"), "tools[0].function.strict");
  await chat.body?.cancel();
  const responses = await post("responses", {
    ...RESPONSES,
    tool_choice: "required",
    parallel_tool_calls: false,
  });
  assertEquals(
    responses.headers.get("x-gateway-verified"),
    "tools[0].strict, parallel_tool_calls, tool_choice",
  );
  await responses.body?.cancel();
  const plain = await post("chat/completions", { ...CHAT, tools: undefined });
  assertEquals(plain.headers.get("x-gateway-verified"), null);
  await plain.body?.cancel();
});

Deno.test("a broken promise is retried, then falls back, and is counted; no circuit breaker opens", async () => {
  const { post, hosts, reports, scrape } = gatewayOf(CONFIG, BAD, BAD, BAD, GOOD);
  const response = await post("chat/completions", CHAT);
  assertEquals(response.status, 200);
  await response.body?.cancel();
  assertEquals(hosts, ["up.test", "up.test", "spare.test", "spare.test"]);
  assertEquals(reports[0]?.attempts.map(({ outcome }) => outcome), [
    "promise_broken",
    "promise_broken",
    "promise_broken",
    "success",
  ]);
  const metrics = await scrape();
  assertStringIncludes(metrics, 'gateway_verified_total{promise="strict",result="broken"} 3\n');
  assertStringIncludes(metrics, 'gateway_verified_total{promise="strict",result="kept"} 1\n');
  assertStringIncludes(metrics, 'gateway_verified_total{promise="stop",result="broken"} 0\n');
});

Deno.test("a promise that no attempt keeps is a 502 with the client's path, and nothing is cached", async () => {
  for (const stream of [true, false]) {
    const { post, hosts } = gatewayOf(CONFIG, BAD, BAD, BAD, BAD, GOOD);
    const chat = await post("chat/completions", { ...CHAT, stream });
    assertEquals(chat.status, 502);
    const { type, code, message } = await errorOf(chat);
    assertEquals([type, code], ["upstream_error", "promise_broken"]);
    assertStringIncludes(String(message), "'tools[0].function.strict'");
    assertEquals((await post("chat/completions", CHAT)).status, 200);
    assertEquals(hosts.length, 5);
  }
  const { post } = gatewayOf(CONFIG, BAD);
  const { message } = await errorOf(await post("responses", RESPONSES));
  assertStringIncludes(String(message), "'tools[0].strict'");
});

Deno.test("a cached response names what was checked", async () => {
  const { post, hosts } = gatewayOf(CONFIG, GOOD);
  for (const cache of ["MISS", "HIT"]) {
    const response = await post("chat/completions", CHAT);
    assertEquals(response.headers.get("x-gateway-cache-status"), cache);
    assertEquals(response.headers.get("x-gateway-verified"), "tools[0].function.strict");
    await response.body?.cancel();
  }
  assertEquals(hosts.length, 1);
});

Deno.test("with verify off the request is refused as unsupported", async () => {
  const config = CONFIG.replaceAll('.test"}', '.test", verify: false}');
  const { post, hosts } = gatewayOf(config, GOOD);
  const response = await post("chat/completions", CHAT);
  assertEquals(response.status, 400);
  const { code, param } = await errorOf(response);
  assertEquals([code, param], ["unsupported_feature", "tools[0].function.strict"]);
  assertEquals(hosts, []);
});

/** The records of a chat stream, parsed; `[DONE]` as text. */
function chunksOf(text: string): unknown[] {
  return text.split("\n\n").filter((line) => line !== "")
    .map((line) => parseJson(line.slice("data: ".length)) ?? line.slice("data: ".length));
}

Deno.test("a promise that is broken after the commit ends the stream with exactly one failure", async () => {
  const body = [record({ content: "Let me see." }), BAD].join("\n");
  const { post, hosts, reports } = gatewayOf(CONFIG, body);
  const response = await post("chat/completions", { ...CHAT, stream: true });
  assertEquals(response.status, 200);
  const chunks = chunksOf(await response.text());
  assertEquals(chunks.at(-1), "[DONE]");
  const failures = chunks.filter((chunk) => isObject(chunk) && chunk.error !== undefined);
  assertEquals(failures.length, 1);
  assertEquals(JSON.stringify(chunks).includes("tool_calls"), false);
  assertEquals(hosts, ["up.test"]);
  assertEquals(reports[0]?.failure?.kind, "promise_broken");
  // The provider has delivered its stream: its circuit breaker stays closed.
  const next = await post("chat/completions", { ...CHAT, stream: true });
  await next.body?.cancel();
  assertEquals(hosts, ["up.test", "up.test"]);
});

Deno.test("a Responses stream whose promise is broken ends with one response.failed", async () => {
  const body = [record({ content: "Let me see." }), BAD].join("\n");
  const { post } = gatewayOf(CONFIG, body);
  const text = await (await post("responses", { ...RESPONSES, stream: true })).text();
  const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
  assertEquals(types.filter((type) => type === "response.failed").length, 1);
  assertEquals(types.at(-1), "response.failed");
  assertEquals(types.includes("response.function_call_arguments.done"), false);
});

Deno.test("over a WebSocket a checked call arrives, and a broken promise is an error", async () => {
  const bodies = [GOOD, BAD];
  const config = CONFIG.replace("max_attempts: 2", "enabled: false").replace(
    /, fallback.*\]\}/,
    "}",
  );
  await using served = socketGateway(config, {
    fetch: () => Promise.resolve(responseOf(bodies.shift() ?? "")),
  });
  await using socket = await served.open();
  const message = { type: "response.create", ...RESPONSES };
  const first = await socket.turn(message);
  assertEquals(first.ending, "response.completed");
  assertStringIncludes(JSON.stringify(first.response.output), '"function_call"');
  const second = await socket.turn(message);
  assertEquals(second.error.code, "promise_broken");
});

Deno.test("a call that arrives as many records of text is not limited by the number of records", async () => {
  const config = CONFIG.replaceAll(
    '.test"}',
    '.test", capabilities: {structured_outputs: true}}',
  );
  const digits = "1".repeat(1_500);
  const pieces = [...`{"n":${digits}}`].map((content) => record({ content }));
  const { post } = gatewayOf(config, [...pieces, record({ content: "" }, true)].join("\n"));
  const response = await post("chat/completions", {
    ...CHAT,
    stream: true,
    tool_choice: "required",
    tools: [{ type: "function", function: { ...TOOL, strict: false } }],
  });
  assertEquals(response.headers.get("x-gateway-verified"), "tool_choice");
  const text = await response.text();
  assertStringIncludes(text, `"arguments":"{\\"n\\":${digits}}"`);
  assertStringIncludes(text, '"finish_reason":"tool_calls"');
});

Deno.test("text that waits for a required call is limited, and then the attempt fails", async () => {
  const pieces = Array.from({ length: 1_100 }, () => record({ content: "a" }));
  const { post } = gatewayOf(CONFIG, [...pieces, GOOD].join("\n"));
  const response = await post("chat/completions", {
    ...CHAT,
    stream: true,
    tool_choice: "required",
  });
  assertEquals(response.status, 502);
  assertEquals((await errorOf(response)).code, "promise_broken");
});
