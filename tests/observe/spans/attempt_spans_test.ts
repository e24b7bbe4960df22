import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { SPAN_DOCS } from "../../../scripts/tools/reference/spans.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import type { Usage } from "../../../src/core/stream/events.ts";
import { AttemptFacts } from "../../../src/observe/spans/attempt_facts.ts";
import { answers, chatRequest, COMPLETION, got } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { parsedConfig } from "../../support/parsed_config.ts";
import { storeUnderTest } from "../../support/store_under_test.ts";
import { scriptedWorld } from "../../support/world.ts";
import { collectedSpans, tracedGateway } from "./traced.ts";

type Sent = { readonly url: string; readonly request: Request };

/** The spans of attempts of one call, and the requests that the providers received. */
async function attemptsOf(
  config: string,
  request: Request,
  ...replies: readonly (() => Promise<Response>)[]
) {
  const sent: Sent[] = [];
  const queue = [...replies];
  const world = scriptedWorld({
    fetch(input, init) {
      const request = new Request(input, init);
      sent.push({ url: request.url, request });
      return queue.shift()?.() ?? Promise.reject(new TypeError("no more replies"));
    },
  });
  const gateway = await tracedGateway(config, world);
  const answer = await got(await gateway.app(request));
  const spans = await gateway.finished();
  const [call, ...attempts] = spans;
  return { call, attempts, sent, answer, log: gateway.log, all: spans };
}

const URL_OF_UP = "http://127.0.0.1:9/v1";

function typed(type: string, settings = ""): string {
  return oneProvider(URL_OF_UP, settings).replace("type: compat", `type: ${type}`);
}

/** The attributes of a span of the GenAI and the OpenAI conventions. */
function modelAttributes(span: ReadableSpan | undefined): Record<string, unknown> {
  const entries = Object.entries(span?.attributes ?? {});
  return Object.fromEntries(entries.filter(([name]) => /^(?:gen_ai|openai)\./.test(name)));
}

function sse(...events: readonly (JsonObject | string)[]): () => Promise<Response> {
  const text = events.map((event) =>
    typeof event === "string" ? event : `data: ${JSON.stringify(event)}\n\n`
  ).join("");
  return () => answers(200, text, { "content-type": "text/event-stream" });
}

const chunk = (choice: JsonObject, more: JsonObject = {}): JsonObject => ({
  id: "chatcmpl-9",
  object: "chat.completion.chunk",
  created: 1,
  model: "m-2027",
  choices: [{ index: 0, finish_reason: null, delta: {}, ...choice }],
  ...more,
});

const COUNTS = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };

Deno.test("an attempt has the settings that were sent and the facts of the response", async () => {
  const body = {
    max_tokens: 9,
    temperature: 0.5,
    top_p: 0.9,
    frequency_penalty: 0.1,
    presence_penalty: 0.2,
    seed: 7,
    n: 2,
    stop: ["secret stop"],
    response_format: { type: "json_object" },
  };
  const reply = {
    ...COMPLETION,
    model: "m-2027",
    usage: { ...COUNTS, completion_tokens_details: { reasoning_tokens: 3 } },
  };
  const { attempts: [attempt], call } = await attemptsOf(
    oneProvider(URL_OF_UP),
    chatRequest({ body, headers: { "X-Gateway-SessionID": "build-1" } }),
    () => answers(200, reply),
  );
  assertEquals(modelAttributes(attempt), {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "up",
    "gen_ai.request.model": "m",
    "gen_ai.request.max_tokens": 9,
    "gen_ai.request.temperature": 0.5,
    "gen_ai.request.top_p": 0.9,
    "gen_ai.request.frequency_penalty": 0.1,
    "gen_ai.request.presence_penalty": 0.2,
    "gen_ai.request.seed": 7,
    "gen_ai.request.choice.count": 2,
    "gen_ai.output.type": "json",
    "gen_ai.conversation.id": "build-1",
    "gen_ai.response.model": "m-2027",
    "gen_ai.response.id": "chatcmpl-1",
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 12,
    "gen_ai.usage.output_tokens": 5,
    "gen_ai.usage.reasoning.output_tokens": 3,
  });
  assertEquals(modelAttributes(call), {});
  assertEquals(attempt?.attributes["server.port"], 9);
  assertEquals(attempt?.attributes["http.response.status_code"], 200);
});

Deno.test("no text of a prompt, a tool or an answer is in a span, nor a header of the client", async () => {
  const request = chatRequest({
    headers: { baggage: "hidden=1", "x-other": "hidden" },
    body: {
      messages: [{ role: "system", content: "hidden" }, { role: "user", content: "hidden" }],
      stop: ["hidden"],
      tools: [{ type: "function", function: { name: "hidden", description: "hidden" } }],
    },
  });
  const message = {
    role: "assistant",
    content: "hidden",
    tool_calls: [{ id: "hidden", type: "function", function: { name: "hidden", arguments: "{}" } }],
  };
  const whole = {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message, finish_reason: "tool_calls" }],
  };
  const { attempts: [attempt], all } = await attemptsOf(
    oneProvider(URL_OF_UP),
    request,
    () => answers(200, JSON.stringify(whole)),
  );
  assertEquals(attempt?.attributes["gen_ai.response.finish_reasons"], ["tool_calls"]);
  const parts = all.map(({ name, attributes, events }) => [name, attributes, events]);
  assert(!JSON.stringify(parts).includes("hidden"));
});

Deno.test("a tier that is no word, and a format of encoding in a chat, are in no span", async () => {
  const config = oneProvider(URL_OF_UP) + "\ntelemetry: {provider_names: {up: openai}}\n";
  const key = "sk-hidden-0123";
  for (const [tier, expected] of [["flex", "flex"], [key, undefined]] as const) {
    const { attempts: [attempt], all } = await attemptsOf(
      config,
      chatRequest({ body: { service_tier: tier, encoding_format: key } }),
      () => answers(200, { ...COMPLETION, service_tier: tier }),
    );
    const attributes = modelAttributes(attempt);
    assertEquals(attributes["openai.request.service_tier"], expected);
    assertEquals(attributes["openai.response.service_tier"], expected);
    const parts = all.map(({ name, attributes, events }) => [name, attributes, events]);
    assert(!JSON.stringify(parts).includes(key));
  }
});

Deno.test("a client's key that a provider repeats, or the client sends as a model, is in no span", async () => {
  const key = "ownkeyofada";
  const config = `${oneProvider(URL_OF_UP)}
telemetry: {provider_names: {up: openai}}
security: {enabled: true, api_key: {keys: [{name: ada, value: ${key}}]}}
`;
  // The key at the place where texts are cut.
  const long = `${"x".repeat(250)}${key}`;
  const said = { id: key, model: long, service_tier: key, system_fingerprint: `fp ${key}` };
  const request = (stream: boolean) =>
    chatRequest({
      headers: { authorization: `Bearer ${key}` },
      body: { model: long, service_tier: key, stream },
    });
  const replies = [
    () => answers(200, { ...COMPLETION, ...said }),
    sse(chunk({ finish_reason: key }, said), "data: [DONE]\n\n"),
  ];
  for (const [at, reply] of replies.entries()) {
    const { attempts: [attempt], all } = await attemptsOf(config, request(at === 1), reply);
    const parts = all.map(({ name, attributes, events }) => [name, attributes, events]);
    assert(!JSON.stringify(parts).includes(key.slice(0, 6)), JSON.stringify(parts));
    const attributes = modelAttributes(attempt);
    assertEquals(attributes["gen_ai.response.id"], "[client_key]");
    assertEquals(attributes["openai.response.system_fingerprint"], "fp [client_key]");
    assertEquals(attributes["gen_ai.response.finish_reasons"], [
      at === 1 ? "[client_key]" : "stop",
    ]);
    assertEquals(attributes["gen_ai.request.model"], `${"x".repeat(250)}[clien`);
    assertEquals(attributes["gen_ai.response.model"], `${"x".repeat(250)}[clien`);
  }
});

Deno.test("a provider's key that the provider repeats is in no span", async () => {
  const key = "sk-of-the-provider";
  const said = { id: key, model: `m-${key}`, system_fingerprint: `${"x".repeat(250)}${key}` };
  const config = `${oneProvider(URL_OF_UP).replace(/api_key: [^,}\n]+/, `api_key: ${key}`)}
telemetry: {provider_names: {up: openai}}
`;
  assert(config.includes(key));
  const reply = () => answers(200, { ...COMPLETION, ...said });
  const { attempts: [attempt], sent } = await attemptsOf(config, chatRequest(), reply);
  assertEquals(sent[0]?.request.headers.get("authorization"), `Bearer ${key}`);
  const attributes = modelAttributes(attempt);
  assertEquals(attributes["gen_ai.response.id"], "[redacted]");
  assertEquals(attributes["gen_ai.response.model"], "m-[redacted]");
  assertEquals(attributes["openai.response.system_fingerprint"], `${"x".repeat(250)}[redac`);
});

Deno.test("a secret in a header or the address of a provider, and another key of it, are in no span", async () => {
  const [header, query, other] = ["sk-of-a-header", "sk-of-a-query", "sk-of-another-account"];
  const pool =
    `api_keys: [{name: a, value: sk-first-account}, {name: b, value: ${other}, weight: 0}]`;
  const said = { id: header, model: query, system_fingerprint: other };
  const config = `${
    oneProvider(`${URL_OF_UP}?key=${query}`, `, headers: {api-key: ${header}}`)
      .replace(/api_key: [^,}\n]+/, pool)
  }
telemetry: {provider_names: {up: openai}}
`;
  const reply = () => answers(200, { ...COMPLETION, ...said });
  const { attempts: [attempt], sent } = await attemptsOf(config, chatRequest(), reply);
  assertEquals(sent[0]?.request.headers.get("api-key"), header);
  const attributes = modelAttributes(attempt);
  assertEquals(attributes["gen_ai.response.id"], "[redacted]");
  assertEquals(attributes["gen_ai.response.model"], "[redacted]");
  assertEquals(attributes["openai.response.system_fingerprint"], "[redacted]");
});

Deno.test("a stream has its time to the first chunk, its reason and its counts", async () => {
  const { attempts: [attempt] } = await attemptsOf(
    oneProvider(URL_OF_UP),
    chatRequest({ body: { stream: true, stream_options: { include_usage: true } } }),
    sse(
      chunk({ delta: { role: "assistant", content: "Hi" } }),
      chunk({ delta: { content: 'say "finish_reason": "x"' } }),
      chunk({ finish_reason: "length" }),
      chunk({}, { choices: [], usage: COUNTS }),
      "data: [DONE]\n\n",
    ),
  );
  const attributes = modelAttributes(attempt);
  assertEquals(attributes["gen_ai.request.stream"], true);
  assertEquals(attributes["gen_ai.response.model"], "m-2027");
  assertEquals(attributes["gen_ai.response.id"], "chatcmpl-9");
  assertEquals(attributes["gen_ai.response.finish_reasons"], ["length"]);
  assertEquals(attributes["gen_ai.response.time_to_first_chunk"], 0);
  assertEquals(attributes["gen_ai.usage.input_tokens"], 12);
  assertEquals(attributes["gen_ai.usage.output_tokens"], 5);
});

Deno.test("each protocol says its model, its ID and its reason in its own words", async () => {
  const local = {
    model: "m-local",
    created_at: "2026-01-01T00:00:00Z",
    message: { role: "assistant", content: "Hi" },
    done: true,
    done_reason: "stop",
    prompt_eval_count: 3,
    eval_count: 2,
  };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m-claude",
    content: [{ type: "text", text: "Hi" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 2 },
  };
  const response = {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    model: "m-native",
    output: [],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  };
  const native = oneProvider(URL_OF_UP).replace(
    "{provider: up}",
    "{provider: up, upstream_request_type: responses}",
  );
  const cases = [
    [typed("local").replace("/v1", ""), local, ["m-local", undefined, ["stop"]]],
    [typed("messages"), message, ["m-claude", "msg_1", ["end_turn"]]],
    [native, response, ["m-native", "resp_1", ["max_output_tokens"]]],
  ] as const;
  for (const [config, reply, expected] of cases) {
    const request = config === native
      ? new Request("http://localhost/v1/responses", {
        method: "POST",
        headers: { host: "localhost" },
        body: JSON.stringify({ model: "m", input: "Hi", store: false }),
      })
      : chatRequest({ body: { max_tokens: 5 } });
    const { attempts: [attempt], answer } = await attemptsOf(
      config,
      request,
      () => answers(200, reply),
    );
    assertEquals(answer.status, 200, answer.text);
    const attributes = modelAttributes(attempt);
    assertEquals<unknown>([
      attributes["gen_ai.response.model"],
      attributes["gen_ai.response.id"],
      attributes["gen_ai.response.finish_reasons"],
    ], expected);
    assertEquals(attributes["gen_ai.usage.input_tokens"], 3);
  }
});

Deno.test("counts are those of each attempt, also of a failed one, and never an estimate", async () => {
  const config = oneProvider(URL_OF_UP)
    .replace("routing:", `  other: {type: compat, base_url: "${URL_OF_UP}"}\nrouting:`)
    .replace(
      "targets: [{provider: up}]",
      "targets: [{provider: up}]\n      fallback: [{provider: other}]",
    );
  const { attempts } = await attemptsOf(
    config,
    chatRequest(),
    () => answers(503, { error: { message: "busy" }, usage: COUNTS }),
    () => answers(200, COMPLETION),
  );
  const facts = attempts.map(({ attributes }) => [
    attributes["error.type"],
    attributes["http.response.status_code"],
    attributes["gen_ai.usage.input_tokens"],
    attributes["gen_ai.usage.output_tokens"],
  ]);
  assertEquals(facts, [["upstream_unavailable", 503, 12, 5], [
    undefined,
    200,
    undefined,
    undefined,
  ]]);
});

Deno.test("a response from the cache has no span of an attempt", async () => {
  const config = `${oneProvider(URL_OF_UP)}caching: {enabled: true}\n`;
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const gateway = await tracedGateway(config, world);
  for (let call = 0; call < 2; call++) await got(await gateway.app(chatRequest()));
  const spans = await gateway.finished();
  const caches = spans.map(({ kind, attributes }) => [kind, attributes["switchyard.cache"]]);
  assertEquals(caches, [[1, "MISS"], [1, "HIT"], [2, undefined]]);
});

Deno.test("only a provider of propagate gets a traceparent: that of its attempt", async () => {
  const trace = "0af7651916cd43dd8448eb211c80319c";
  const headers = {
    traceparent: `00-${trace}-b7ad6b7169203331-01`,
    tracestate: "vendor=1",
    baggage: "user=1",
  };
  const names = ["traceparent", "tracestate", "baggage"];
  const received = ({ request }: Sent) => names.map((name) => request.headers.get(name));
  const reply = () => answers(200, COMPLETION);
  const off = await attemptsOf(oneProvider(URL_OF_UP), chatRequest({ headers }), reply);
  assertEquals(off.sent.map(received), [[null, null, null]]);
  const config = `${oneProvider(URL_OF_UP)}telemetry: {propagate: [up]}\n`;
  const on = await attemptsOf(config, chatRequest({ headers }), reply);
  const span = on.attempts[0]?.spanContext().spanId;
  assertEquals(on.sent.map(received), [[`00-${trace}-${span}-01`, null, null]]);
  const unsampled = { traceparent: `00-${trace}-b7ad6b7169203331-00` };
  const other = await attemptsOf(config, chatRequest({ headers: unsampled }), reply);
  assert(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/.test(String(received(other.sent[0] as Sent)[0])));
  assertEquals(other.all, []);
});

Deno.test("an attempt at an endpoint without a model has a name without one", async () => {
  const { attempts } = await attemptsOf(
    typed("compat", ", capabilities: {relay: [batches]}"),
    new Request("http://localhost/v1/batches", { headers: { host: "localhost" } }),
    () => answers(200, { object: "list", data: [] }),
  );
  assertEquals(attempts.map(({ name }) => name), ["call"]);
});

Deno.test("the access line has the trace and the span of the exported request span", async () => {
  const { call, log } = await attemptsOf(
    oneProvider(URL_OF_UP),
    chatRequest(),
    () => answers(200, COMPLETION),
  );
  const line = JSON.parse(log.find((one) => one.includes('"msg":"request"')) ?? "{}");
  const { traceId, spanId } = call?.spanContext() ?? {};
  assertEquals([line.trace_id, line.span_id], [traceId, spanId]);
});

Deno.test("a large request and a large response are read for what their spans need", async () => {
  const content = "x".repeat(600_000);
  const reply = {
    ...COMPLETION,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  };
  const { attempts: [attempt] } = await attemptsOf(
    oneProvider(URL_OF_UP),
    chatRequest({ body: { messages: [{ role: "user", content }], temperature: 0.25 } }),
    () => answers(200, reply),
  );
  const attributes = modelAttributes(attempt);
  assertEquals(attributes["gen_ai.request.temperature"], 0.25);
  assertEquals(attributes["gen_ai.response.id"], "chatcmpl-1");
});

Deno.test("texts of a provider and of a client are cut to 256 characters", async () => {
  const long = "é".repeat(9_000);
  const { attempts: [attempt] } = await attemptsOf(
    oneProvider(URL_OF_UP),
    chatRequest({ headers: { "X-Gateway-SessionID": "s".repeat(9_000) } }),
    () => answers(200, { ...COMPLETION, id: long, model: long }),
  );
  for (const value of Object.values(attempt?.attributes ?? {})) {
    assert(typeof value !== "string" || value.length <= 256);
  }
  assertEquals(attempt?.attributes["gen_ai.response.id"], long.slice(0, 256));
});

Deno.test("names of attributes are those of the pinned conventions", () => {
  const known = new Set<unknown>(Object.values(conventions));
  const names = Object.keys(SPAN_DOCS).filter((name) => !name.startsWith("switchyard."));
  assertEquals(names.filter((name) => !known.has(name)), []);
  const notOurs = [
    /^gen_ai\.(?:agent|workflow|evaluation|retrieval|tool|openai|token)\./,
    /^gen_ai\.(?:data_source\.id|prompt\.name|prompt|completion|system)$/,
    /^gen_ai\.usage\.(?:prompt|completion)_tokens$/,
    // Content of clients, which is not exported.
    /^gen_ai\.(?:input\.messages|output\.messages|system_instructions|request\.stop_sequences)$/,
  ];
  const applicable = Object.entries(conventions)
    .filter(([constant]) =>
      constant.startsWith("ATTR_GEN_AI_") || constant.startsWith("ATTR_OPENAI_")
    )
    .map(([, name]) => String(name))
    .filter((name) => !notOurs.some((pattern) => pattern.test(name)));
  assertEquals(applicable.filter((name) => !names.includes(name)), []);
});

Deno.test("numbers that a collector cannot read are left out of spans", async () => {
  const { attempts: [attempt] } = await attemptsOf(
    oneProvider(URL_OF_UP),
    chatRequest({ body: { seed: 1e300, top_p: 0.5 } }),
    () => answers(200, { ...COMPLETION, usage: { ...COUNTS, prompt_tokens: 1e300 } }),
  );
  const { attributes = {} } = attempt ?? {};
  const numbers = Object.values(attributes).filter((value) => typeof value === "number");
  for (const value of numbers) assert(Number.isSafeInteger(value) || value % 1 !== 0);
  assertEquals(attributes["gen_ai.request.top_p"], 0.5);
  assertEquals("gen_ai.request.seed" in attributes, false);
});

Deno.test("a stream whose first record names no model has the facts of a later one", async () => {
  const { attempts: [azure] } = await attemptsOf(
    oneProvider(URL_OF_UP),
    chatRequest({ body: { stream: true } }),
    sse(
      chunk({}, { id: "", model: "", choices: [] }),
      chunk({ delta: { role: "assistant", content: "Hi" } }),
      "data: broken",
    ),
  );
  assertEquals(azure?.attributes["gen_ai.response.id"], "chatcmpl-9");
  assertEquals(azure?.attributes["gen_ai.response.model"], "m-2027");
});

Deno.test("a reason is that of its choice, also if it is sent again or for 1,000 choices", async () => {
  const end = chunk({ finish_reason: "stop" });
  const { attempts: [repeated] } = await attemptsOf(
    oneProvider(URL_OF_UP),
    chatRequest({ body: { stream: true } }),
    sse(chunk({ delta: { content: "Hi" } }), end, { ...end, usage: COUNTS }, "data: [DONE]\n\n"),
  );
  assertEquals(repeated?.attributes["gen_ai.response.finish_reasons"], ["stop"]);
  const choices = Array.from({ length: 1_000 }, (_, index) => {
    return { index, message: { role: "assistant", content: "" }, finish_reason: "length" };
  });
  const { attempts: [many] } = await attemptsOf(
    oneProvider(URL_OF_UP),
    chatRequest(),
    () => answers(200, { ...COMPLETION, choices }),
  );
  const expected = Array.from({ length: 8 }, () => "length");
  assertEquals(many?.attributes["gen_ai.response.finish_reasons"], expected);
});

Deno.test("an attempt has the name and the address of the provider that it called, also after a reload", async () => {
  const config = oneProvider("https://api.groq.com/openai/v1");
  let current = parsedConfig(config);
  const { spans, finished } = await collectedSpans(() => current);
  const world = scriptedWorld({
    fetch() {
      current = parsedConfig(oneProvider(URL_OF_UP));
      return answers(200, COMPLETION);
    },
  });
  const options = { ...storeUnderTest(world), began: spans.begin };
  const { app } = testGateway(config, world, options, [spans.sink]);
  assertEquals((await got(await app(chatRequest()))).status, 200);
  const [, attempt] = await finished();
  const names = ["gen_ai.provider.name", "server.address", "server.port"];
  assertEquals(names.map((name) => attempt?.attributes[name]), ["groq", "api.groq.com", 443]);
});

Deno.test("the span of an attempt that has ended refers to none of it while the next one runs", async () => {
  const large = `data: ${JSON.stringify(chunk({ delta: { content: "x".repeat(5_000_000) } }))}\n\n`;
  const ends: Readonly<Record<string, () => Promise<Response>>> = {
    "large record": () => answers(200, large, { "content-type": "text/event-stream" }),
    "no JSON": () => answers(200, "{", { "content-type": "application/json" }),
    status: () => answers(500, { usage: COUNTS }),
  };
  const { uses, settle } = AttemptFacts.prototype;
  for (const [name, end] of Object.entries(ends)) {
    /** Whether each attempt has a source of its counts. */
    const sources = new Map<AttemptFacts, boolean>();
    AttemptFacts.prototype.uses = function (counts) {
      sources.set(this, true);
      uses.call(this, counts);
    };
    AttemptFacts.prototype.settle = function () {
      sources.set(this, false);
      settle.call(this);
    };
    try {
      let sent = 0;
      const world = scriptedWorld({
        fetch: () => ++sent === 1 ? end() : new Promise<Response>(() => {}),
      });
      const config = oneProvider(URL_OF_UP).replace(
        "retry: {enabled: false}",
        "retry: {max_attempts: 2, initial_delay: 1ms, retryable_errors: [500]}",
      );
      const gateway = await tracedGateway(config, world);
      void gateway.app(chatRequest({ body: { stream: name === "large record" } }));
      for (let turn = 0; turn < 1_000 && sent < 2; turn++) await world.advance(1);
      assertEquals([name, sent, ...sources.values()], [name, 2, false]);
    } finally {
      Object.assign(AttemptFacts.prototype, { uses, settle });
    }
  }
});

Deno.test("the counts of an attempt are those of its end", () => {
  const facts = new AttemptFacts("", "", { turn: () => null });
  let usage: Usage | null = null;
  facts.uses(() => usage);
  facts.settle();
  usage = { input: 1, output: 1, total: 2, cached: 0, cacheWrite: 0, reasoning: 0 };
  assertEquals(facts.usage(), null);
});
