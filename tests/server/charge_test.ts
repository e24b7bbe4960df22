import type { JsonObject } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";
import { answers, COMPLETION } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { keys, type LimitedGateway, limitedGateway, USAGE } from "../support/limited_gateway.ts";
import { type Shape, TEXTS } from "./charge/shape.ts";
import { SHAPES } from "./charge/shapes.ts";

/** A route to one provider of this type, whose models cost 2 and 1 USD per million tokens. */
function provider(kind: string, more = ""): string {
  const [type, target] = kind === "responses"
    ? ["compat", "provider: up, upstream_request_type: responses"]
    : [kind, "provider: up"];
  return `
providers:
  up: {type: ${type}, base_url: "http://up"${type === "local" ? "" : ", api_key: sk-secret"}${more}}
routing: {routes: [{name: main, targets: [{${target}}]}]}
retry: {enabled: true, max_attempts: 2, initial_delay: 1ms}
pricing: {"up/*": {input: 2, output: 1}}
`;
}

const LIMITS = keys({
  ada: {
    tokens_per_minute: 100_000,
    budgets: [{ per: "day", usd: 1, tokens: 100_000 }],
  },
});

function post(path: string, body: JsonObject, signal?: AbortSignal): Request {
  return new Request(`http://localhost${path}`, {
    method: "POST",
    headers: { host: "localhost", ...keyOf("ada") },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
}

const CHAT: JsonObject = { model: "m", messages: [{ role: "user", content: "Hi" }] };
const MESSAGE: JsonObject = { ...CHAT, max_tokens: 50 };
const RESPONSE: JsonObject = { model: "m", input: "Hi", store: false };

/** An answer of a provider: its body, or the records of a stream that never ends. */
type Answer = JsonObject | { readonly records: readonly string[] };

function sseOf(...events: readonly JsonObject[]): readonly string[] {
  return events.map((event) => {
    const name = typeof event.type === "string" ? `event: ${event.type}\n` : "";
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
}

/** A gateway whose provider gives each answer once; a number is the status of an error. */
function charged(type: string, given: readonly (Answer | number)[], more = "", settings = "") {
  const waiting = [...given];
  const sent: string[] = [];
  const gateway = limitedGateway(LIMITS, {
    more,
    providers: provider(type, settings),
    async fetch(_url, { body, signal }) {
      sent.push(await new Response(body ?? "").text());
      const answer = waiting.shift() ?? 500;
      if (typeof answer === "number") return answers(answer, { error: { message: "no" } });
      if (!("records" in answer)) return answers(200, answer);
      const { records } = answer;
      const stream = new ReadableStream({
        type: "bytes",
        start(controller) {
          signal?.addEventListener("abort", () => controller.error(new TypeError("aborted")));
          for (const record of records as readonly string[]) {
            controller.enqueue(new TextEncoder().encode(record));
          }
        },
      });
      const kind = type === "local" ? "application/x-ndjson" : "text/event-stream";
      return new Response(stream, { headers: { "content-type": kind } });
    },
  });
  return { ...gateway, sent };
}

/** Sends a request and reads its response to the end. */
async function served(gateway: LimitedGateway, request: Request): Promise<number> {
  const responding = gateway.app(request);
  // Retries wait for their time.
  await gateway.world.advance(1_000);
  const response = await responding;
  await response.text();
  return response.status;
}

/** Reads a stream until this text has come, then leaves. */
async function leaveAfter(gateway: LimitedGateway, request: Request, text: string): Promise<void> {
  const response = await gateway.app(request);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let read = "";
  while (reader !== undefined && !read.includes(text)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream ended with ${read}`);
    read += value;
  }
  await reader?.cancel();
  await gateway.world.advance(0);
}

/** Returns the sums of the key after all calls, and those of the last report. */
async function sums({ gateway, reports }: LimitedGateway) {
  const found = await gateway.state.quotas.spent(["key ada"]);
  const windows = found.ok ? found.value.get("key ada") : undefined;
  const at = (unit: string) => windows?.get(`${unit} d:2023-11-14`) ?? 0;
  return {
    tokens: at("tokens"),
    nanoUsd: at("usd"),
    estimated: reports.at(-1)?.estimated,
  };
}

const REPORTED = { tokens: 14, nanoUsd: 24_000, estimated: false };

function quarter(text: string): number {
  return Math.ceil(text.length / 4);
}

const TEXT = "delivered ".repeat(20);

/** Charge of a request whose tokens were estimated from its bytes and these delivered ones. */
function estimated(request: string, delivered: string) {
  const [input, output] = [quarter(request), quarter(delivered)];
  return { tokens: input + output, nanoUsd: (2 * input + output) * 1_000, estimated: true };
}

Deno.test("each client API charges the tokens that the provider reports, and their cost", async () => {
  const completion = { ...COMPLETION, usage: USAGE };
  const chat = charged("compat", [completion, completion, completion]);
  assertEquals(await served(chat, post("/v1/chat/completions", CHAT)), 200);
  assertEquals(await sums(chat), REPORTED);
  assertEquals(await served(chat, post("/v1/messages", MESSAGE)), 200);
  assertEquals(await served(chat, post("/v1/responses", RESPONSE)), 200);
  assertEquals(await sums(chat), { tokens: 42, nanoUsd: 72_000, estimated: false });

  const vectors = {
    object: "list",
    model: "m",
    data: [{ object: "embedding", index: 0, embedding: [0.5] }],
    usage: { prompt_tokens: 7, total_tokens: 7 },
  };
  const embeddings = charged("compat", [vectors]);
  assertEquals(await served(embeddings, post("/v1/embeddings", { model: "m", input: "Hi" })), 200);
  assertEquals(await sums(embeddings), { tokens: 7, nanoUsd: 14_000, estimated: false });

  // A total is all input.
  for (const usage of [{ total_tokens: 7 }, { prompt_tokens: 0, total_tokens: 7 }]) {
    const summed = charged("compat", [{ ...vectors, usage }]);
    assertEquals(await served(summed, post("/v1/embeddings", { model: "m", input: "Hi" })), 200);
    assertEquals(await sums(summed), { tokens: 7, nanoUsd: 14_000, estimated: false });
  }

  // A total that is less than its parts is none.
  const low = charged("compat", [{ ...completion, usage: { ...USAGE, total_tokens: 0 } }]);
  assertEquals(await served(low, post("/v1/chat/completions", CHAT)), 200);
  assertEquals(await sums(low), REPORTED);

  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "Hi" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 4 },
  };
  const relayed = charged("messages", [message]);
  assertEquals(await served(relayed, post("/v1/messages", MESSAGE)), 200);
  assertEquals(await sums(relayed), REPORTED);
});

const COMPACTION = {
  id: "resp_1",
  object: "response.compaction",
  output: [],
  usage: { input_tokens: 10, output_tokens: 4, total_tokens: 14 },
};

Deno.test("compaction charges its tokens, and counting tokens charges tokens without a cost", async () => {
  const settings = ", capabilities: {response_compaction: true, response_input_tokens: true}";
  const input = { model: "m", input: "Hi" };
  const compact = charged("compat", [COMPACTION], "", settings);
  assertEquals(await served(compact, post("/v1/responses/compact", input)), 200);
  assertEquals(await sums(compact), REPORTED);

  const count = charged(
    "compat",
    [{ object: "response.input_tokens", input_tokens: 9 }],
    "",
    settings,
  );
  assertEquals(await served(count, post("/v1/responses/input_tokens", input)), 200);
  const { tokens } = estimated(count.sent[0] ?? "", "");
  assertEquals(await sums(count), { tokens, nanoUsd: 0, estimated: true });

  const messages = charged("messages", [{ input_tokens: 9 }]);
  assertEquals(await served(messages, post("/v1/messages/count_tokens", CHAT)), 200);
  const sent = estimated(messages.sent[0] ?? "", "");
  assertEquals(await sums(messages), { tokens: sent.tokens, nanoUsd: 0, estimated: true });
  assertEquals(messages.reports[0]?.usage, null);
});

Deno.test("a whole response without reported tokens is estimated from its request and its text", async () => {
  const choices = [{
    index: 0,
    message: { role: "assistant", content: TEXT },
    finish_reason: "stop",
  }];
  const chat = charged("compat", [{ ...COMPLETION, choices }]);
  assertEquals(await served(chat, post("/v1/chat/completions", CHAT)), 200);
  assertEquals(await sums(chat), estimated(chat.sent[0] ?? "", TEXT));
  const [line = ""] = chat.log;
  assertEquals(line.includes('"tokens_estimated":true'), true, line);
  const metrics = await chat.gateway.metrics.scrape();
  assertEquals(metrics.includes('gateway_usage_estimated_total{provider="up"} 1\n'), true);
});

const CHUNK = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
const delta = (content: string, more: JsonObject = {}) => ({
  ...CHUNK,
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  ...more,
});

const COUNTS = { input: 10, output: 4, cached: 0 };

/** The beginning of a stream of a wire, to the text `TEXTS.text`. */
function beginningOf(type: "compat" | "messages" | "responses" | "local"): readonly string[] {
  const { stream }: Shape = SHAPES[type];
  const records = [stream?.head(COUNTS) ?? "", stream?.content("text") ?? ""];
  return records.filter((record) => record !== "");
}

/** Streams that break off after the text, of each wire. */
const INTERRUPTED: readonly (readonly [
  type: string,
  records: readonly string[],
  tells: "nothing" | "input" | "all",
])[] = [
  ["compat", beginningOf("compat"), "nothing"],
  ["compat", sseOf(delta(TEXTS.text, { usage: USAGE })), "all"],
  ["messages", beginningOf("messages"), "input"],
  ["responses", beginningOf("responses"), "nothing"],
  ["local", beginningOf("local"), "nothing"],
];

const STREAMS: readonly (readonly [path: string, body: JsonObject])[] = [
  ["/v1/chat/completions", { ...CHAT, stream: true }],
  ["/v1/messages", { ...MESSAGE, stream: true }],
  ["/v1/responses", { ...RESPONSE, stream: true }],
];

for (const [type, records, tells] of INTERRUPTED) {
  for (const [path, body] of STREAMS) {
    Deno.test(`a stream of ${type} that reports ${tells} and whose client of ${path} leaves is charged`, async () => {
      const gateway = charged(type, [{ records }]);
      await leaveAfter(gateway, post(path, body), TEXTS.text);
      const guess = estimated(gateway.sent[0] ?? "", TEXTS.text);
      const output = quarter(TEXTS.text);
      assertEquals(
        await sums(gateway),
        tells === "all"
          ? REPORTED
          : tells === "input"
          ? { tokens: 10 + output, nanoUsd: (20 + output) * 1_000, estimated: true }
          : guess,
      );
      assertEquals(gateway.reports.at(-1)?.failure?.kind, "client_cancelled");
    });
  }
}

Deno.test("an image in base64 counts as 1,200 tokens of the request if the client leaves", async () => {
  const image = "A".repeat(40_000);
  const url = `data:image/png;base64,${image}`;
  const content = [{ type: "text", text: "What?" }, { type: "image_url", image_url: { url } }];
  const body = { ...CHAT, messages: [{ role: "user", content }], stream: true };
  for (const type of ["compat", "responses", "messages", "local"] as const) {
    const gateway = charged(type, [{ records: [] }]);
    const client = new AbortController();
    const response = gateway.app(post("/v1/chat/completions", body, client.signal));
    await gateway.world.advance(0);
    client.abort();
    assertEquals((await response).status, 499);
    const [sent = ""] = gateway.sent;
    assertEquals(sent.includes(image), true, type);
    const { tokens } = await sums(gateway);
    assertEquals(tokens > 1_200 && tokens < 1_400, true, `${type}: ${tokens}`);
  }
});

Deno.test("a client that leaves before the response pays for what was sent to the provider", async () => {
  const gateway = charged("compat", [{ records: [": waiting\n\n"] }]);
  const client = new AbortController();
  const response = gateway.app(
    post("/v1/chat/completions", { ...CHAT, stream: true }, client.signal),
  );
  await gateway.world.advance(0);
  client.abort();
  assertEquals((await response).status, 499);
  assertEquals(await sums(gateway), estimated(gateway.sent[0] ?? "", ""));
});

Deno.test("attempts that fail without reported tokens cost nothing, also if a retry succeeds", async () => {
  const failed = charged("compat", [500, 500]);
  assertEquals(await served(failed, post("/v1/chat/completions", CHAT)), 500);
  assertEquals(await sums(failed), { tokens: 0, nanoUsd: 0, estimated: false });

  const gateway = charged("compat", [503, { ...COMPLETION, usage: USAGE }]);
  assertEquals(await served(gateway, post("/v1/chat/completions", CHAT)), 200);
  assertEquals(await sums(gateway), REPORTED);
});

Deno.test("a stream that fails before its first content counts what its provider has reported", async () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "busy" } };
  const broken = { records: [...beginningOf("messages").slice(0, 1), ...sseOf(error)] };
  const gateway = charged("messages", [broken, broken]);
  const response = gateway.app(post("/v1/messages", { ...MESSAGE, stream: true }));
  await gateway.world.advance(1_000);
  await (await response).text();
  assertEquals(gateway.sent.length, 2);
  assertEquals(await sums(gateway), { tokens: 22, nanoUsd: 42_000, estimated: false });
});

Deno.test("a cached response costs nothing but its request", async () => {
  const more = "caching: {enabled: true}\n";
  const gateway = charged("compat", [{ ...COMPLETION, usage: USAGE }], more);
  assertEquals(await served(gateway, post("/v1/chat/completions", CHAT)), 200);
  assertEquals(await served(gateway, post("/v1/chat/completions", CHAT)), 200);
  assertEquals(gateway.reports.map(({ cache }) => cache), ["MISS", "HIT"]);
  assertEquals(await sums(gateway), REPORTED);
});

for (const [path, body] of STREAMS) {
  Deno.test(`a complete Messages stream whose last count does not come is estimated, over ${path}`, async () => {
    for (const usage of [undefined, {}, { output_tokens: null }]) {
      const end = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage };
      const stop = { type: "content_block_stop", index: 0 };
      const records = [...beginningOf("messages"), ...sseOf(stop, end, { type: "message_stop" })];
      const gateway = charged("messages", [{ records }]);
      assertEquals(await served(gateway, post(path, body)), 200);
      const output = quarter(TEXTS.text);
      assertEquals(await sums(gateway), {
        tokens: 10 + output,
        nanoUsd: (20 + output) * 1_000,
        estimated: true,
      });
    }
  });
}

Deno.test("a client that leaves after counts without an output pays for the text, and for all counts of the start", async () => {
  const started = (usage: JsonObject) => [
    ...sseOf({
      type: "message_start",
      message: { id: "msg_1", role: "assistant", model: "m", content: [], usage },
    }),
    ...beginningOf("messages").slice(1),
  ];
  const end = (usage: JsonObject) =>
    sseOf({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage });
  const cases: readonly (readonly [JsonObject, JsonObject, number])[] = [
    [{ input_tokens: 10, output_tokens: 1 }, { input_tokens: 10 }, 10 + quarter(TEXTS.text)],
    [
      { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 1_000 },
      { input_tokens: 10, output_tokens: 50 },
      1_060,
    ],
  ];
  for (const [start, last, tokens] of cases) {
    const records = [...started(start), ...end(last)];
    const gateway = charged("messages", [{ records }]);
    await leaveAfter(gateway, post("/v1/messages", { ...MESSAGE, stream: true }), "message_delta");
    await gateway.world.advance(6_000);
    assertEquals((await sums(gateway)).tokens, tokens);
  }
});

Deno.test("a complete stream without reported tokens is estimated", async () => {
  const end = { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const gateway = charged("compat", [
    { records: [...sseOf(delta(TEXT), delta(TEXT), end), "data: [DONE]\n\n"] },
  ]);
  const response = gateway.app(post("/v1/chat/completions", { ...CHAT, stream: true }));
  await gateway.world.advance(0);
  const reading = (await response).text();
  await gateway.world.advance(1_000);
  await reading;
  assertEquals(await sums(gateway), estimated(gateway.sent[0] ?? "", TEXT + TEXT));
});

Deno.test("a token count that no response can have is estimated, so that it exhausts no budget", async () => {
  for (const absurd of [1e300, 1_000_000_001, -1]) {
    const usage = { prompt_tokens: absurd, completion_tokens: absurd, total_tokens: absurd };
    const message = { role: "assistant", content: TEXT };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const gateway = charged("compat", [{ ...COMPLETION, choices, usage }]);
    assertEquals(await served(gateway, post("/v1/chat/completions", CHAT)), 200);
    assertEquals(await sums(gateway), estimated(gateway.sent[0] ?? "", TEXT));
  }
});

Deno.test("tokens of a stream of completions that reports none are estimated from its text", async () => {
  const chunk = (text: string) => ({ object: "text_completion", choices: [{ index: 0, text }] });
  const half = TEXT.slice(0, TEXT.length / 2);
  const records = [...sseOf(chunk(half), chunk(half)), "data: [DONE]\n\n"];
  const completion: JsonObject = { model: "m", prompt: "Hi", stream: true };
  const whole = charged("compat", [{ records }], "", RELAYED);
  assertEquals(await served(whole, post("/v1/completions", completion)), 200);
  assertEquals(await sums(whole), estimated(whole.sent[0] ?? "", TEXT));
  const left = charged("compat", [{ records: records.slice(0, 1) }], "", RELAYED);
  await leaveAfter(left, post("/v1/completions", completion), "text_completion");
  assertEquals(await sums(left), estimated(left.sent[0] ?? "", half));
});

const RELAYED = ", capabilities: {relay: [completions]}";

const FINISHED: readonly string[] = sseOf(
  { id: "c", choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] },
  { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
);

Deno.test("a client that leaves after the finish pays for the reported tokens, of which the gateway waits 5 s", async () => {
  const request = { ...CHAT, stream: true };
  const gateway = charged("compat", [{ records: FINISHED }]);
  await leaveAfter(gateway, post("/v1/chat/completions", request), "stop");
  await gateway.world.advance(4_999);
  assertEquals(gateway.reports.length, 0);
  await gateway.world.advance(1);
  assertEquals(await sums(gateway), estimated(gateway.sent.at(-1) ?? "", "Hi"));
  assertEquals(gateway.reports.length, 1);
});

Deno.test("a stream that breaks its promise is charged with its tokens, which come after the broken text", async () => {
  const { stream }: Shape = SHAPES.messages;
  const rest = [stream?.finish ?? "", stream?.counts({ ...COUNTS, output: 9 }) ?? ""];
  const records = [...beginningOf("messages"), ...rest, stream?.terminal ?? ""];
  const gateway = charged("messages", [{ records }]);
  const json = { response_format: { type: "json_object" } };
  const request = post("/v1/chat/completions", { ...CHAT, ...json, stream: true });
  const responding = gateway.app(request);
  // The stream of the provider does not end; it is read for 5 s at most.
  for (const ms of [0, 5_000, 1_000]) await gateway.world.advance(ms);
  await (await responding).text();
  assertEquals((await sums(gateway)).tokens, 19);
});

Deno.test("a stream that breaks its promise is charged by all text that was read, if only its first counts come", async () => {
  const event = { type: "content_block_delta", index: 0 };
  const strict = { type: "object", properties: {}, required: [], additionalProperties: false };
  const tools = [{ type: "function", function: { name: "f", strict: true, parameters: strict } }];
  const calls = [{ function: { name: "f", arguments: { odd: TEXTS.text } } }];
  const lineOf = (message: JsonObject) => `${JSON.stringify({ message, done: false })}\n`;
  const output = quarter(TEXTS.text + TEXT.repeat(300));
  const cases: readonly (readonly [
    "messages" | "local",
    JsonObject,
    readonly string[],
    readonly [tokens: number, isEstimated: boolean],
  ])[] = [
    ["messages", { response_format: { type: "json_object" } }, [
      ...beginningOf("messages"),
      ...Array<string>(300)
        .fill(sseOf({ ...event, delta: { type: "text_delta", text: TEXT } })[0] ?? ""),
    ], [2 * (COUNTS.input + output), true]],
    // This protocol has counts only at the end.
    ["local", { tools }, [
      lineOf({ role: "assistant", content: "", tool_calls: calls }),
      ...Array<string>(300).fill(lineOf({ role: "assistant", content: TEXT })),
    ], [0, false]],
  ];
  for (const [type, promise, records, expected] of cases) {
    const gateway = charged(type, [{ records }, { records }], "", ", verify: true");
    const responding = gateway.app(
      post("/v1/chat/completions", { ...CHAT, ...promise, stream: true }),
    );
    // Each of the two attempts waits 5 s for its counts.
    for (let seconds = 0; seconds < 12; seconds++) await gateway.world.advance(1_000);
    await (await responding).text();
    assertEquals(gateway.reports.at(-1)?.failure?.kind, "promise_broken");
    const { tokens, estimated } = await sums(gateway);
    assertEquals([type, tokens, estimated], [type, ...expected]);
  }
});

Deno.test("a client that leaves while text waits for a call pays for it", async () => {
  const tool = { type: "function", function: { name: "f" } };
  const body = { ...CHAT, tools: [tool], tool_choice: "required", stream: true };
  const gateway = charged("local", [{ records: beginningOf("local") }], "", ", verify: true");
  const client = new AbortController();
  const responding = gateway.app(post("/v1/chat/completions", body, client.signal));
  await gateway.world.advance(100);
  client.abort();
  await (await responding).body?.cancel();
  assertEquals(await sums(gateway), estimated(gateway.sent[0] ?? "", TEXTS.text));
});
