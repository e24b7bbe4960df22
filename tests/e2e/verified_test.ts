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

/**
 * A gateway whose upstreams give these bodies, one after the other, and then the last one again.
 */
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

/**
 * A schema whose pattern takes more than half of the time that the patterns of a request may take.
 */
const NAMED = {
  type: "object",
  properties: { n: { type: "string", pattern: "^[\\p{L} ]{1,80}$" } },
  required: ["n"],
  additionalProperties: false,
};

const SHARED: readonly (readonly [path: string, body: JsonObject, verified: string])[] = [
  ["chat/completions", {
    ...CHAT,
    tools: [{ type: "function", function: { name: "f", strict: true, parameters: NAMED } }],
    response_format: {
      type: "json_schema",
      json_schema: { name: "x", strict: true, schema: NAMED },
    },
  }, "tools[0].function.strict, response_format.json_schema.strict"],
  ["responses", {
    ...RESPONSES,
    tools: [{ type: "function", name: "f", strict: true, parameters: NAMED }],
    text: { format: { type: "json_schema", name: "x", strict: true, schema: NAMED } },
  }, "tools[0].strict, text.format.strict"],
  ["messages", {
    model: "m",
    max_tokens: 9,
    messages: CHAT.messages,
    tools: [{ name: "f", strict: true, input_schema: NAMED }],
  }, "tools.0.strict"],
];

Deno.test("a pattern is compiled once for all schemas and targets of a request of any client API", async () => {
  const config = CONFIG.replaceAll('.test"}', '.test", capabilities: {structured_outputs: true}}');
  const text = record({
    content: "",
    tool_calls: [{ function: { name: "f", arguments: { n: "a" } } }],
  }, true);
  for (const [path, body, verified] of SHARED) {
    const { post, hosts } = gatewayOf(config, GOOD, GOOD, text);
    const response = await post(path, body);
    assertEquals(response.status, 200, path);
    assertEquals(response.headers.get("x-gateway-verified"), verified);
    // The fallback was eligible too.
    assertEquals(hosts, ["up.test", "up.test", "spare.test"]);
    await response.body?.cancel();
  }
});

Deno.test("the schemas of a request of any client API share one bound for their patterns", async () => {
  const config = CONFIG.replaceAll('.test"}', '.test", capabilities: {structured_outputs: true}}');
  const other = JSON.parse(JSON.stringify(NAMED).replace("{1,80}", "{1,81}"));
  const formats: Readonly<Record<string, JsonObject>> = {
    "chat/completions": {
      response_format: {
        type: "json_schema",
        json_schema: { name: "x", strict: true, schema: other },
      },
    },
    responses: {
      text: { format: { type: "json_schema", name: "x", strict: true, schema: other } },
    },
    messages: { output_config: { format: { type: "json_schema", schema: other } } },
  };
  for (const [path, body, verified] of SHARED) {
    const { post } = gatewayOf(config, record(called("a"), true));
    const response = await post(path, { ...body, ...formats[path] });
    assertEquals(response.status, 200, path);
    // Only the tool is checked: the second pattern would take too long.
    assertEquals(response.headers.get("x-gateway-verified"), verified.split(", ")[0]);
    await response.body?.cancel();
  }
});

Deno.test("patterns that take too long to compile are refused by path, before a provider is called", async () => {
  const slow = "\\p{L}".repeat(390);
  const names = Array.from({ length: 240 }, (_, at) => `p${at}`);
  const parameters = {
    ...SCHEMA,
    required: names,
    properties: Object.fromEntries(
      names.map((name) => [name, { type: "string", pattern: `[${slow}${name}]` }]),
    ),
  };
  const { post, hosts } = gatewayOf(CONFIG, GOOD);
  const response = await post("chat/completions", {
    ...CHAT,
    tools: [{ type: "function", function: { ...TOOL, parameters } }],
  });
  assertEquals(response.status, 400);
  const { code, param, message } = await errorOf(response);
  assertEquals(code, "unsupported_feature");
  assertEquals(param, "tools[0].function.parameters.properties.p0.pattern");
  assertStringIncludes(String(message), "take too long to compile");
  assertEquals(hosts, []);
});

const SPOKEN = [
  { type: "text", text: "Let me look." },
  { type: "tool_use", id: "toolu_1", name: "f", input: { n: 1 } },
];

const JSON_BESIDE_TOOLS = {
  ...CHAT,
  tools: [{ type: "function", function: { name: "f", parameters: SCHEMA } }],
  response_format: { type: "json_object" },
};

Deno.test("a sentence before a call keeps the promise of JSON over messages, and one alone breaks it", async () => {
  const config = CONFIG.replaceAll("type: local", 'type: messages, api_key: "k"');
  for (const [content, status] of [[SPOKEN, 200], [SPOKEN.slice(0, 1), 502]] as const) {
    const message = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      model: "m",
      content,
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    const { post } = gatewayOf(config, JSON.stringify(message));
    const response = await post("chat/completions", JSON_BESIDE_TOOLS);
    assertEquals(response.status, status);
    await response.body?.cancel();
  }
});

Deno.test("JSON with tools is checked on a local runtime too, streamed or whole", async () => {
  const sentence = { content: "Let me look." };
  const cases = [
    [[record(sentence), GOOD], 200],
    [[record({ content: '{"n": 1}' }, true)], 200],
    [[record(sentence, true)], 502],
  ] as const;
  for (const [records, status] of cases) {
    for (const stream of records.length > 1 ? [true] : [true, false]) {
      const { post } = gatewayOf(CONFIG, records.join("\n"));
      const response = await post("chat/completions", { ...JSON_BESIDE_TOOLS, stream });
      assertEquals(response.status, status);
      if (status === 200) {
        assertEquals(response.headers.get("x-gateway-verified"), "response_format");
        await response.body?.cancel();
      } else {
        const { code, type, message } = await errorOf(response);
        assertStringIncludes(String(message), "'response_format'", `${code} ${type}`);
      }
    }
  }
});

/** A stream over messages that has reported its input when it reaches the stop text. */
const CUT_STREAM = [
  {
    type: "message_start",
    message: { id: "msg_1", model: "m", usage: { input_tokens: 7, output_tokens: 1 } },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  {
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: "Twelve letters\n\nmore" },
  },
];

/** A Responses stream, which reports its counts only at its end. */
const CUT_RESPONSE = [
  {
    type: "response.created",
    sequence_number: 0,
    response: { id: "resp_1", object: "response", status: "in_progress", model: "m", output: [] },
  },
  {
    type: "response.output_item.added",
    sequence_number: 1,
    output_index: 0,
    item: { type: "message", id: "msg_1", role: "assistant", status: "in_progress", content: [] },
  },
  {
    type: "response.output_text.delta",
    sequence_number: 2,
    output_index: 0,
    content_index: 0,
    item_id: "msg_1",
    delta: "Twelve letters\n\nmore",
  },
];

Deno.test("a stream that is cut at a stop text counts tokens in the metrics, without a client key too", async () => {
  const cases = [
    ['type: messages, api_key: "k"', CUT_STREAM, "7"],
    ['type: compat, api_key: "k"', CUT_RESPONSE, "[1-9]\\d*"],
  ] as const;
  for (const [type, records, input] of cases) {
    const config = CONFIG.replaceAll("type: local", type).replace(
      "{provider: up}",
      type.startsWith("type: compat")
        ? "{provider: up, upstream_request_type: responses}"
        : "{provider: up}",
    );
    const body = records.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(
      "",
    );
    const { post, scrape } = gatewayOf(config, body);
    const response = await post("chat/completions", {
      model: "m",
      messages: CHAT.messages,
      stream: true,
      stop: ["\n\n"],
    });
    assertEquals(response.status, 200);
    assertStringIncludes(await response.text(), "Twelve letters");
    const metrics = await scrape();
    for (const [direction, count] of [["input", input], ["output", "5"]]) {
      const line =
        `gateway_tokens_total{provider="up",model="_dynamic",direction="${direction}"} ${count}\n`;
      assert(new RegExp(line.replace("{", "\\{")).test(metrics), line);
    }
  }
});

/** The message of a provider of type messages with one text. */
function spoken(text: string): string {
  return JSON.stringify({
    type: "message",
    id: "msg_1",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 2 },
  });
}

const STRUCTURED = CONFIG.replaceAll(
  "type: local",
  'type: messages, api_key: "k", capabilities: {structured_outputs: true}',
);

function schemaFormat(schema: JsonObject, strict: boolean): JsonObject {
  return { response_format: { type: "json_schema", json_schema: { name: "x", strict, schema } } };
}

const OPEN = "response_format.json_schema.schema.properties.a.additionalProperties";

Deno.test("a format that is not strict reaches a provider of type messages closed, and is named as lossy", async () => {
  const values = [{ type: "object", properties: {} }, {
    type: "object",
    additionalProperties: { type: "string" },
  }];
  for (const a of values) {
    const schema = { type: "object", properties: { a } };
    const { post } = gatewayOf(STRUCTURED, spoken("{}"));
    const { messages, model } = CHAT;
    const response = await post("chat/completions", {
      model,
      messages,
      ...schemaFormat(schema, false),
    });
    await response.body?.cancel();
    assertEquals(response.status, 200);
    const lossy = response.headers.get("x-gateway-lossy") ?? "";
    assertEquals(lossy.split(", ").includes(OPEN), true);
  }
});

Deno.test("an open object of a strict format is refused by its path over messages", async () => {
  const { post, hosts } = gatewayOf(STRUCTURED, spoken("{}"));
  const { messages, model } = CHAT;
  const schema = { type: "object", properties: { a: { type: "object", properties: {} } } };
  for (const additionalProperties of [undefined, true, { type: "string" }]) {
    const open = { ...schema.properties.a, ...additionalProperties && { additionalProperties } };
    const closed = { ...schema, additionalProperties: false, properties: { a: open } };
    const response = await post("chat/completions", {
      model,
      messages,
      ...schemaFormat(closed, true),
    });
    assertEquals(response.status, 400);
    const { code, param } = await errorOf(response);
    assertEquals([code, param], ["unsupported_feature", OPEN]);
  }
  assertEquals(hosts, []);
});

Deno.test("a format of any object is checked over messages, and not closed to an empty one", async () => {
  const { messages, model } = CHAT;
  const at = "response_format.json_schema.schema";
  for (const schema of [{ type: "object" }, { type: "object", additionalProperties: {} }]) {
    for (const [text, status] of [['{"b": 1}', 200], ["no object", 502]] as const) {
      const { post } = gatewayOf(STRUCTURED, spoken(text));
      const response = await post("chat/completions", {
        model,
        messages,
        ...schemaFormat(schema, false),
      });
      assertEquals(response.status, status);
      const { headers } = response;
      if (status === 200) {
        assertEquals(headers.get("x-gateway-verified"), at);
        assertEquals(headers.get("x-gateway-lossy"), `response_format.json_schema.name, ${at}`);
      }
      await response.body?.cancel();
    }
  }
});

Deno.test("a promise that is broken after content is a failed attempt of a held stream", async () => {
  const spoken = record({ content: "Look: " });
  const broken = `${spoken}\n${BAD}`;
  const kept = `${spoken}\n${GOOD}`;
  for (const [route, attempts, isHeld] of [["", 1, false], ["hold: 30s, ", 2, true]] as const) {
    const config = CONFIG.replace("{name: main,", `{name: main, ${route}`);
    const { post, hosts } = gatewayOf(config, broken, kept);
    const response = await post("chat/completions", { ...CHAT, stream: true });
    assertEquals([response.status, response.headers.get("x-gateway-held")], [
      200,
      isHeld ? "complete" : null,
    ]);
    const text = await response.text();
    assertEquals([hosts.length, text.match(/Look/g)?.length], [attempts, 1]);
    assertEquals(text.includes('"error"'), !isHeld);
  }
});
