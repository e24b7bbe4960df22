import { accessFields } from "../../src/observe/access_log.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

/** A part of a body: a text, or milliseconds of silence. */
type Part = string | number;

const chunk = (delta: JsonObject, finish: string | null = null) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
  }\n\n`;

const ROLE = chunk({ role: "assistant", content: "" });
const PING = ": ping\n\n";
const END = chunk({}, "stop") + "data: [DONE]\n\n";
const SERVED = [chunk({ content: "Hi" }), END];

function timed(world: ScriptedWorld, parts: readonly Part[], signal: AbortSignal): Response {
  const left = [...parts];
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    type: "bytes",
    start(controller) {
      signal.addEventListener("abort", () => controller.error(signal.reason));
    },
    async pull(controller) {
      let next = left.shift();
      while (typeof next === "number") {
        const ms = next;
        await new Promise<void>((resolve) => void world.after(ms, resolve));
        if (signal.aborted) return;
        next = left.shift();
      }
      if (next !== undefined) return controller.enqueue(encoder.encode(next));
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

interface Setting {
  /** Body of the first provider; the second one responds at once. */
  readonly first: readonly Part[];
  readonly provider?: string;
  readonly target?: string;
  /** A streamed Chat request if absent. */
  readonly request?: Request;
  readonly breaker?: string;
}

function configOf({ provider = "", target = "", breaker = "enabled: false" }: Setting): string {
  return `
providers:
  first: {type: compat, base_url: "http://first"${provider}}
  second: {type: compat, base_url: "http://second"}
routing:
  routes: [{name: r, targets: [{provider: first${target}}], fallback: [{provider: second}]}]
retry: {enabled: false}
circuit_breaker: {${breaker}}
`;
}

function gatewayOf(setting: Setting) {
  const sent: string[] = [];
  const world = scriptedWorld({
    fetch(url, { signal }) {
      const { hostname } = new URL(url);
      sent.push(hostname);
      assert(signal instanceof AbortSignal);
      const parts = hostname === "first" ? setting.first : SERVED;
      return Promise.resolve(timed(world, parts, signal));
    },
  });
  return { world, sent, gateway: testGateway(configOf(setting), world) };
}

async function ask(
  gateway: TestGateway,
  world: ScriptedWorld,
  request = chatRequest({ body: { stream: true } }),
) {
  const waiting = gateway.app(request).then(got);
  let isOver = false;
  waiting.then(() => isOver = true);
  do await world.advance(1_000); while (!isOver);
  const answer = await waiting;
  const report = gateway.reports.at(-1);
  assert(report !== undefined);
  return {
    answer,
    report,
    by: report.attempts.map(({ provider, outcome }) => `${provider}:${outcome}`),
  };
}

async function run(setting: Setting) {
  const { world, gateway } = gatewayOf(setting);
  return await ask(gateway, world, setting.request);
}

const LIMIT = ", first_content_timeout: 10s";
const RESCUED = ["first:upstream_timeout", "second:success"];

const SILENT: Readonly<Record<string, readonly Part[]>> = {
  "nothing": [60_000, ...SERVED],
  "a role": [ROLE, 60_000, ...SERVED],
  "pings": [PING, 6_000, PING, 6_000, ...SERVED],
  "an empty text": [chunk({ content: "" }), 60_000, ...SERVED],
};

for (const [what, first] of Object.entries(SILENT)) {
  Deno.test(`a stream with ${what} for too long is given up for the fallback`, async () => {
    const { answer, report, by } = await run({ first, provider: LIMIT });
    assertEquals([answer.status, by], [200, RESCUED]);
    assertEquals(report.attempts.map(({ cause }) => cause), ["first_content", null]);
    assertEquals(report.attempts[0]?.ended, 10_000);
  });
}

const CONTENT: Readonly<Record<string, readonly Part[]>> = {
  "a text": [chunk({ content: "H" }), 60_000, END],
  "reasoning": [chunk({ reasoning_content: "Well" }), 60_000, ...SERVED],
  "a call whose ID comes later": [
    chunk({ tool_calls: [{ index: 0, function: { name: "f", arguments: "{}" } }] }),
    60_000,
    chunk({ tool_calls: [{ index: 0, id: "call_1" }] }),
    chunk({}, "tool_calls") + "data: [DONE]\n\n",
  ],
};

for (const [what, first] of Object.entries(CONTENT)) {
  Deno.test(`a stream that begins with ${what} in time has all the time it needs`, async () => {
    for (const request of [chatRequest({ body: { stream: true } }), messagesRequest()]) {
      const { answer, by } = await run({ first, provider: LIMIT, request });
      assertEquals([answer.status, by], [200, ["first:success"]]);
    }
  });
}

function messagesRequest(): Request {
  const messages = [{ role: "user", content: "Hi" }];
  return new Request("http://localhost/v1/messages", {
    method: "POST",
    body: JSON.stringify({ model: "m", max_tokens: 9, stream: true, messages }),
  });
}

Deno.test("a whole response ignores the limit to the first content", async () => {
  const whole = [60_000, JSON.stringify(COMPLETION)];
  const { answer, by } = await run({ first: whole, provider: LIMIT, request: chatRequest() });
  assertEquals([answer.status, by], [200, ["first:success"]]);
});

Deno.test("the limit of the target wins over that of its provider, and none is the default", async () => {
  const first = SILENT["a role"] ?? [];
  const longer = await run({ first, provider: LIMIT, target: ", first_content_timeout: 2m" });
  assertEquals(longer.by, ["first:success"]);
  const shorter = await run({ first, provider: LIMIT, target: ", first_content_timeout: 2s" });
  assertEquals([shorter.by, shorter.report.attempts[0]?.ended], [RESCUED, 2_000]);
  assertEquals((await run({ first })).by, ["first:success"]);
});

Deno.test("a reload changes the limit for new calls", async () => {
  const setting = { first: SILENT["a role"] ?? [] };
  const { world, gateway } = gatewayOf(setting);
  assertEquals((await ask(gateway, world)).by, ["first:success"]);
  gateway.gateway.reload(parsedConfig(configOf({ ...setting, provider: LIMIT })));
  assertEquals((await ask(gateway, world)).by, RESCUED);
});

Deno.test("a missed limit counts for the circuit breaker, and is the cause that the log names", async () => {
  const setting: Setting = {
    first: SILENT["a role"] ?? [],
    provider: LIMIT,
    breaker: "failure_threshold: 2, open_duration: 1h",
  };
  const { world, gateway, sent } = gatewayOf(setting);
  for (let count = 0; count < 3; count++) await ask(gateway, world);
  assertEquals(sent, ["first", "second", "first", "second", "second"]);
  const alone = configOf({ ...setting, breaker: "enabled: false" }).replace(
    "fallback: [{provider: second}]",
    "fallback: []",
  );
  const lone = testGateway(alone, world);
  const { answer, report } = await ask(lone, world);
  assertEquals([answer.status, answer.error.code], [504, "upstream_timeout"]);
  assertEquals(accessFields(report).upstream_cause, "first_content");
});
