import type { JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { limitedGateway } from "../support/limited_gateway.ts";
import { LIMITS } from "./charge/operations.ts";
import { chatUsage, DONE, messagesUsage, responsesUsage, sse } from "./charge/shape.ts";
import { chargesOf } from "./charge/sums.ts";
import { newStream } from "./charge/written_stream.ts";

type Wire = "compat" | "messages" | "responses";

const REFUSING = `privacy:
  rules: [{name: bad, words: [FORBIDDEN], phase: response, action: refuse}]
  policies: [{name: out, rules: [bad]}]
  default: out
`;

/** What a provider sends and what its client does, in this order. */
type Step = string | "leave" | "wait";

interface Streamed {
  readonly wire: Wire;
  readonly path: string;
  readonly body?: JsonObject;
  readonly more?: string;
  /** Settings of the route. */
  readonly route?: string;
  readonly steps: readonly Step[];
}

/** Runs a call whose provider keeps its connection open at the end. Steps are 100 ms apart. */
async function run({ wire, path, body = {}, more = "", route = "", steps }: Streamed) {
  const streams: ReturnType<typeof newStream>[] = [];
  const via = wire === "responses" ? ", upstream_request_type: responses" : "";
  const gateway = limitedGateway(LIMITS, {
    more,
    providers: `
providers:
  up: {type: ${
      wire === "messages" ? wire : "compat"
    }, base_url: "http://up", api_key: sk, capabilities: {relay: [completions]}}
routing: {routes: [{name: main, ${route}targets: [{provider: up${via}}]}]}
retry: {enabled: false}
pricing: {"up/*": {input: 2, output: 1, cached_input: 1}}
`,
    fetch(_url, { signal }) {
      const stream = newStream(signal, "text/event-stream");
      streams.push(stream);
      return Promise.resolve(stream.response);
    },
  });
  const { world, reports } = gateway;
  const asked = path === "/v1/responses"
    ? { input: "Hi", store: false }
    : path === "/v1/completions"
    ? { prompt: "Hi" }
    : { messages: [{ role: "user", content: "Hi" }], max_tokens: 50 };
  const client = new AbortController();
  const responding = gateway.app(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { host: "localhost", ...keyOf("ada") },
      body: JSON.stringify({ model: "m", stream: true, ...asked, ...body }),
      signal: client.signal,
    }),
  );
  let text = "";
  let endedAt: number | null = null;
  let cancel = () => client.abort();
  void responding.then(async (response) => {
    if (client.signal.aborted) return await response.body?.cancel().catch(() => {});
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    cancel = () => void reader?.cancel();
    for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
      text += step.value;
    }
    endedAt = world.now();
  });
  await world.advance(0);
  for (const step of steps) {
    if (step === "leave") cancel();
    else if (step !== "wait") streams[0]?.write(step);
    await world.advance(100);
  }
  const lastAt = world.now();
  const isCharged = reports.length > 0;
  await world.advance(10_000);
  const { quotas } = await chargesOf(gateway);
  const estimated = reports.at(-1)?.estimated;
  return { ...quotas, estimated, text, endedAt, lastAt, isCharged, report: reports.at(-1) };
}

const TEXT = "delivered ".repeat(40);

const chunk = (content: string, more: JsonObject = {}, finish: string | null = null) =>
  sse({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: finish }], ...more });
const counts = (input: number, output: number, cached = 0) => ({ input, output, cached });
const usage = (input: number, output: number) => chatUsage(counts(input, output));
const usageChunk = (usage: JsonObject) => sse({ id: "c", choices: [], usage });
const FINISH = chunk("", {}, "stop");

const started = (usage: JsonObject) =>
  sse({ type: "message_start", message: { id: "msg_1", model: "m", content: [], usage } });
const block = (text: string) =>
  sse({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }) +
  sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
const BLOCK_STOP = sse({ type: "content_block_stop", index: 0 });
const ended = (usage: JsonObject) =>
  sse({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage });
const MESSAGE_STOP = sse({ type: "message_stop" });

const RESPONSE = { id: "resp_1", object: "response", created_at: 1, model: "m" };
const item = (text: string) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
const created = (usage: JsonObject | null = null) =>
  sse({
    type: "response.created",
    sequence_number: 0,
    response: { ...RESPONSE, status: "in_progress", output: [], usage },
  });
const said = (text: string) =>
  [
    { type: "response.output_item.added", item: { ...item(""), content: [] } },
    { type: "response.content_part.added", part: { type: "output_text", text: "" } },
    { type: "response.output_text.delta", delta: text },
  ].map((event, at) =>
    sse({ item_id: "msg_1", output_index: 0, content_index: 0, ...event, sequence_number: at + 1 })
  ).join("");
const completed = (text: string, usage: JsonObject | null) =>
  sse({
    type: "response.completed",
    sequence_number: 9,
    response: { ...RESPONSE, status: "completed", output: [item(text)], usage },
  });

const STOPPED = `${TEXT}\n\nmore`;

for (const isSameRead of [true, false]) {
  Deno.test(`counts after a stop text at which the gateway ends a stream are charged, ${isSameRead ? "in the same read" : "later"}, and its client does not wait for them`, async () => {
    const streams: readonly (readonly [Wire, string, readonly string[]])[] = [
      ["responses", created() + said(STOPPED), [
        completed(STOPPED, responsesUsage(counts(1_000, 50_000))),
      ]],
      ["messages", started(messagesUsage(counts(1_000, 1))) + block(STOPPED), [
        BLOCK_STOP + ended({ output_tokens: 50_000 }),
        MESSAGE_STOP,
      ]],
    ];
    for (const [wire, text, rest] of streams) {
      const steps = isSameRead ? [text + rest.join("")] : [text, "wait", ...rest];
      const ran = await run({
        wire,
        path: "/v1/chat/completions",
        body: { stop: ["\n\n"] },
        steps,
      });
      assertEquals([ran.tokens, ran.estimated], [51_000, false], wire);
      assertEquals(ran.report?.failure, null);
      assert(ran.text.includes(DONE) && !ran.text.includes("more"), ran.text);
      // The steps after the text take 100 ms each.
      assert(ran.endedAt !== null && ran.endedAt <= ran.lastAt - (steps.length - 1) * 100);
      // The provider keeps its connection open after its last record.
      assertEquals(ran.isCharged, true, wire);
    }
  });
}

Deno.test("a stream that the gateway ends at a stop text is estimated if no counts come for 5 s, without what is written behind it", async () => {
  const ran = await run({
    wire: "messages",
    path: "/v1/chat/completions",
    body: { stop: ["\n\n"] },
    steps: [started(messagesUsage(counts(1_000, 1))) + block(STOPPED), block(TEXT), block(TEXT)],
  });
  assertEquals([ran.tokens, ran.estimated], [1_000 + Math.ceil(STOPPED.length / 4), true]);
});

/** Half of the text is in each of two chunks. */
const HALF = TEXT.slice(0, TEXT.length / 2);

Deno.test("zeros before the end of a stream are no counts: its client that leaves pays for the text", async () => {
  const written = TEXT.length / 4;
  const completion = (text: string) => sse({ choices: [{ index: 0, text }], usage: usage(0, 0) });
  const zeros = { usage: usage(0, 0) };
  const streams: readonly (readonly [Wire, string, readonly string[]])[] = [
    ["compat", "/v1/chat/completions", [chunk(HALF, zeros), chunk(HALF, zeros)]],
    ["compat", "/v1/messages", [chunk(HALF, zeros), chunk(HALF, zeros)]],
    ["compat", "/v1/completions", [completion(HALF), completion(HALF)]],
    ["responses", "/v1/responses", [created(responsesUsage(counts(0, 0))), said(TEXT)]],
    ["messages", "/v1/messages", [started(messagesUsage(counts(0, 0))), block(TEXT)]],
  ];
  for (const [wire, path, steps] of streams) {
    const { tokens, estimated } = await run({ wire, path, steps: [...steps, "leave"] });
    // The request is not longer than 200 bytes.
    assert(tokens > written && tokens <= written + 50, `${path} over ${wire}: ${tokens}`);
    assertEquals(estimated, true);
  }
  const input = await run({
    wire: "compat",
    path: "/v1/chat/completions",
    steps: [chunk(TEXT, { usage: usage(1_000, 0) }), "leave"],
  });
  assertEquals(input.tokens, 1_000 + written);
});

Deno.test("a client that leaves after the finish waits for counts also after zeros", async () => {
  for (const zeros of [usage(0, 0), usage(1_000, 0)]) {
    for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/responses"]) {
      const text = chunk(TEXT, { usage: zeros });
      const steps = [text, FINISH, "leave", "wait", usageChunk(usage(1_000, 3_000)), DONE];
      const ran = await run({ wire: "compat", path, steps });
      assertEquals([ran.tokens, ran.estimated], [4_000, false], path);
    }
  }
});

Deno.test("counts of a stream do not shrink by a later record, and are not added", async () => {
  const [many, none] = [usageChunk(usage(1_000, 100)), usageChunk(usage(0, 0))];
  const cumulative = [25, 50, 100].map((output) => chunk("Hi", { usage: usage(1_000, output) }));
  const start = started(messagesUsage(counts(1_000, 1))) + block(TEXT) + BLOCK_STOP;
  const cached = started(messagesUsage(counts(1_000, 1, 900))) + block(TEXT) + BLOCK_STOP;
  const chat = [
    [chunk(TEXT), FINISH, many, none, DONE],
    [chunk(TEXT), FINISH, many, usageChunk({}), DONE],
    [chunk(TEXT), chunk("", { usage: usage(1_000, 100) }, "stop"), usageChunk({ cost: 1 }), DONE],
    [...cumulative, FINISH, DONE],
  ];
  const messages = [
    [start, ended({ input_tokens: 0, output_tokens: 100 }), MESSAGE_STOP],
    [start, ended({ output_tokens: 100 }), ended({ output_tokens: 0 }), MESSAGE_STOP],
    [cached, ended({ cache_read_input_tokens: 0, output_tokens: 100 }), MESSAGE_STOP],
  ];
  const PATHS = ["/v1/chat/completions", "/v1/messages", "/v1/responses"];
  for (const [wire, streams] of [["compat", chat], ["messages", messages]] as const) {
    for (const [at, steps] of streams.entries()) {
      for (const path of PATHS) {
        const ran = await run({ wire, path, steps });
        const what = `${path} over ${wire} ${at}`;
        assertEquals([ran.tokens, ran.estimated], [1_100, false], what);
        assertEquals(ran.nanoUsd, (steps[0] === cached ? 1_200 : 2_100) * 1_000, what);
      }
    }
  }
  const completion = [sse({ choices: [{ index: 0, text: TEXT, finish_reason: "stop" }] }), many];
  const relayed = await run({
    wire: "compat",
    path: "/v1/completions",
    steps: [...completion, none, DONE],
  });
  assertEquals(relayed.tokens, 1_100);
  for (const path of ["/v1/responses", "/v1/chat/completions"]) {
    const steps = [created(responsesUsage(counts(1_000, 100))), said(TEXT), completed(TEXT, null)];
    const ran = await run({ wire: "responses", path, steps });
    assertEquals([ran.tokens, ran.estimated], [1_100, false], path);
  }
});

Deno.test("the client of a chat stream gets its largest counts", async () => {
  const steps = [chunk(TEXT), FINISH, usageChunk(usage(1_000, 100)), usageChunk(usage(0, 0)), DONE];
  const body = { stream_options: { include_usage: true } };
  const { text } = await run({ wire: "compat", path: "/v1/chat/completions", body, steps });
  assertEquals([...text.matchAll(/"prompt_tokens":(\d+)/g)].map((found) => found[1]), ["1000"]);
});

Deno.test("a response that says it has failed costs the counts that it has, and nothing without them", async () => {
  const error = { code: "server_error", message: "no" };
  const input = "word ".repeat(1_000);
  for (const reported of [null, responsesUsage(counts(1_000, 100))]) {
    const response = { ...RESPONSE, status: "failed", output: [], usage: reported, error };
    const failed = sse({ type: "response.failed", sequence_number: 1, response });
    const expected = [reported === null ? 0 : 1_100, false];
    const ran = await run({
      wire: "responses",
      path: "/v1/responses",
      body: { input },
      steps: [created() + failed],
    });
    assertEquals([ran.tokens, ran.estimated], expected);
    const whole = limitedGateway(LIMITS, {
      providers: `
providers: {up: {type: compat, base_url: "http://up", api_key: sk}}
routing: {routes: [{name: main, targets: [{provider: up, upstream_request_type: responses}]}]}
pricing: {"up/*": {input: 2, output: 1}}
`,
      fetch: () => answers(200, response),
    });
    const answer = await whole.app(
      new Request("http://localhost/v1/responses", {
        method: "POST",
        headers: { host: "localhost", ...keyOf("ada") },
        body: JSON.stringify({ model: "m", input, store: false }),
      }),
    );
    assertEquals(answer.status, 200);
    await answer.body?.cancel();
    const { quotas, reports } = await chargesOf(whole);
    assertEquals([quotas.tokens, reports.at(-1)?.estimated], expected);
  }
});

Deno.test("a client that leaves after the end of the text pays for its counts, also if other records come before them", async () => {
  const filter = sse({
    id: "",
    choices: [{ index: 0, finish_reason: null, content_filter_results: {} }],
  });
  const text = started(messagesUsage(counts(1_000, 1))) + block(TEXT);
  const ping = sse({ type: "ping" });
  for (const isBefore of [true, false]) {
    const leaving = (other: string) => isBefore ? [other, "leave"] : ["leave", other];
    for (const path of ["/v1/chat/completions", "/v1/messages"]) {
      const steps = [chunk(TEXT), FINISH, ...leaving(filter)];
      const last = [usageChunk(usage(1_000, 3_000)), DONE];
      const chat = await run({ wire: "compat", path, steps: [...steps, ...last] });
      assertEquals([chat.tokens, chat.isCharged], [4_000, true], path);
      const messages = await run({
        wire: "messages",
        path,
        steps: [text, BLOCK_STOP, ...leaving(ping), ended({ output_tokens: 3_000 }), MESSAGE_STOP],
      });
      assertEquals([messages.tokens, messages.isCharged], [4_000, true], path);
    }
  }
});

Deno.test("the end of a text is found at both ends of a record above 1 MiB", async () => {
  const delta = { content: "a".repeat(1_500_000) };
  for (
    const choice of [
      { index: 0, finish_reason: "stop", delta },
      { index: 0, delta, finish_reason: "stop" },
    ]
  ) {
    const ran = await run({
      wire: "compat",
      path: "/v1/chat/completions",
      steps: [sse({ id: "c", choices: [choice] }), "leave", usageChunk(usage(1_000, 3_000)), DONE],
    });
    assertEquals([ran.tokens, ran.estimated], [4_000, false]);
  }
});

Deno.test("a client that leaves between two texts of a stream is not charged for more than it began", async () => {
  const text = started(messagesUsage(counts(1_000, 1))) + block(TEXT) + BLOCK_STOP;
  const ran = await run({
    wire: "messages",
    path: "/v1/messages",
    steps: [text, "leave", block(TEXT), block(TEXT), block(TEXT)],
  });
  assertEquals(ran.tokens, 1_000 + 2 * TEXT.length / 4);
});

Deno.test("a stream that a rule refuses ends at once, and is charged with the counts that have come or an estimate", async () => {
  const end = FINISH + usageChunk(usage(1_000, 3_000)) + DONE;
  for (const first of ["", TEXT.repeat(4)]) {
    for (const isCounted of [false, true]) {
      const ran = await run({
        wire: "compat",
        path: "/v1/chat/completions",
        more: REFUSING,
        steps: [
          ...first === "" ? [] : [chunk(first)],
          chunk(`FORBIDDEN ${TEXT}`) + (isCounted ? end : ""),
          "wait",
          end,
        ],
      });
      assertEquals([ran.tokens === 4_000, ran.estimated], [isCounted, !isCounted]);
      assertEquals(ran.report?.failure?.kind, "response_refused");
      assert(ran.text.includes("response_refused") && !ran.text.includes("FORBIDDEN"), ran.text);
      assert(ran.endedAt !== null && ran.endedAt < ran.lastAt - 100);
    }
  }
});

for (const more of ["", REFUSING]) {
  Deno.test(`counts are read of a stream whose client leaves while it is held back, ${more === "" ? "without rules" : "searched by rules"}`, async () => {
    const ran = await run({
      wire: "compat",
      path: "/v1/chat/completions",
      more,
      route: "hold: 250ms, ",
      steps: [
        chunk(TEXT) + FINISH,
        "leave",
        "wait",
        "wait",
        usageChunk(usage(1_000, 3_000)),
        DONE,
      ],
    });
    assertEquals([ran.tokens, ran.estimated], [4_000, false]);
  });
}

Deno.test("counts after an error in a stream are charged, and its client does not wait for them", async () => {
  const error = sse({ error: { message: "no", code: 500 } });
  const ran = await run({
    wire: "compat",
    path: "/v1/chat/completions",
    steps: [chunk(TEXT), error, usageChunk(usage(1_000, 3_000)), DONE],
  });
  assertEquals([ran.tokens, ran.estimated, ran.isCharged], [4_000, false, true]);
  assert(ran.endedAt !== null && ran.endedAt <= ran.lastAt - 200);
});
