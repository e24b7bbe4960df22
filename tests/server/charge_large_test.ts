import { gzipSync } from "node:zlib";
import { concatBytes } from "../../src/core/concat_bytes.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { testGateway } from "../support/gateway.ts";
import { clockWorld, limitedGateway } from "../support/limited_gateway.ts";
import { LIMITS } from "./charge/operations.ts";
import { chatUsage, DONE, responsesUsage, sse, tooLarge } from "./charge/shape.ts";
import { chargesOf } from "./charge/sums.ts";

const COUNTS = { input: 10, output: 8_000, cached: 0 };

const MIB = 1024 * 1024;

/** Time after which the gateway does not wait for counts any more. */
const LATE_MS = 5_000;

/** Positions of a text with the most likely tokens at each, about 900 bytes for one. */
function logprobs(count: number): JsonObject[] {
  const likely = { token: "tok", logprob: -1.5, bytes: [116, 111] };
  return Array(count).fill({ ...likely, top_logprobs: Array(20).fill(likely) });
}

/** A body that never ends. */
interface Stalling {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Resolves once all that it has was read; null if the clock is not moved until the response. */
  readonly stalled: Promise<void> | null;
}

/** Returns what one call of this path is charged for that response of the provider. */
async function charged(
  path: string,
  body: JsonObject,
  type: string,
  response: string | Stalling,
) {
  const via = path.startsWith("/v1/responses") ? ", upstream_request_type: responses" : "";
  const gateway = limitedGateway(LIMITS, {
    providers: `
providers: {up: {type: compat, base_url: "http://up", api_key: sk-a, capabilities: {response_compaction: true, relay: [rerank]}}}
routing: {routes: [{name: main, targets: [{provider: up${via}}]}]}
retry: {enabled: false}
pricing: {"up/*": {input: 2, output: 1}}
`,
    fetch: () =>
      typeof response === "string"
        ? answers(200, response, { "content-type": type })
        : Promise.resolve(new Response(response.body, { headers: { "content-type": type } })),
  });
  const request = new Request(`http://localhost${path}`, {
    method: "POST",
    headers: { host: "localhost", ...keyOf("ada") },
    body: JSON.stringify({ model: "m", ...body }),
  });
  const responding = gateway.app(request);
  if (typeof response !== "string" && response.stalled !== null) {
    await response.stalled;
    await gateway.world.advance(LATE_MS);
  }
  const { status, body: sent } = await responding;
  await sent?.pipeTo(new WritableStream());
  await gateway.world.advance(10_000);
  const { quotas, reports } = await chargesOf(gateway);
  return { status, tokens: quotas.tokens, isEstimated: reports.at(-1)?.estimated };
}

const MESSAGES: JsonObject = { messages: [{ role: "user", content: "Hi" }] };

Deno.test("counts of a whole response with too many likely tokens to be parsed are charged", async () => {
  const [choice] = COMPLETION.choices as readonly JsonObject[];
  const choices = [{ ...choice, logprobs: { content: logprobs(6_000) } }];
  const body = JSON.stringify({ ...COMPLETION, choices, usage: chatUsage(COUNTS) });
  assertEquals(await charged("/v1/chat/completions", MESSAGES, "application/json", body), {
    status: 502,
    tokens: 8_010,
    isEstimated: false,
  });
});

Deno.test("counts in the last event of a native stream are charged, also if it is too large to be delivered", async () => {
  const response = { id: "resp_1", object: "response", created_at: 1, model: "m" };
  const text = { type: "output_text", text: "Hi", annotations: [], logprobs: logprobs(7_000) };
  const item = { id: "msg_1", type: "message", role: "assistant", status: "completed" };
  const stream = sse({
    type: "response.created",
    sequence_number: 0,
    response: { ...response, status: "in_progress", output: [] },
  }) + sse({
    type: "response.output_text.delta",
    sequence_number: 1,
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    delta: "Hi",
  }) + sse({
    type: "response.completed",
    sequence_number: 2,
    response: {
      ...response,
      status: "completed",
      output: [{ ...item, content: [text] }],
      usage: responsesUsage(COUNTS),
    },
  });
  const body = { input: "Hi", store: false, stream: true };
  assertEquals(await charged("/v1/responses", body, "text/event-stream", stream), {
    status: 200,
    tokens: 8_010,
    isEstimated: false,
  });
});

Deno.test("counts after a record that is too large to be delivered are charged", async () => {
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const large = { choices: [{ index: 0, delta: { content: "x".repeat(5 * MIB) } }] };
  const stream = sse({ ...chunk, ...large }) +
    sse({ ...chunk, choices: [], usage: chatUsage(COUNTS) }) + DONE;
  assertEquals(
    await charged(
      "/v1/chat/completions",
      { ...MESSAGES, stream: true },
      "text/event-stream",
      stream,
    ),
    { status: 502, tokens: 8_010, isEstimated: false },
  );
});

Deno.test("an answer that is too large to be read is charged by its text, if its counts were not read", async () => {
  const request = { ...MESSAGES, max_tokens: 5 };
  const text = `${JSON.stringify({ choices: [{ index: 0 }] }).slice(0, -3)},"message":{"content":"`;
  const long = `${text}${"x".repeat(65 * MIB)}"}}]}`;
  const sent = JSON.stringify({ model: "m", ...request }).length;
  const whole = await charged("/v1/chat/completions", request, "application/json", long);
  assertEquals([whole.status, whole.isEstimated], [502, true]);
  const read = whole.tokens - Math.ceil(sent / 4);
  assertEquals(Math.round(4 * read / MIB), 64);
  const counts = `{"usage":${JSON.stringify(chatUsage(COUNTS))},${long.slice(1)}`;
  assertEquals(await charged("/v1/chat/completions", request, "application/json", counts), {
    status: 502,
    tokens: 8_010,
    isEstimated: false,
  });
  const delta = { content: "x".repeat(5 * MIB) };
  const stream = sse({ choices: [{ index: 0, delta }] }) + DONE;
  const streamed = { ...request, stream: true };
  const cut = await charged("/v1/chat/completions", streamed, "text/event-stream", stream);
  assertEquals([cut.status, cut.isEstimated], [502, true]);
  assert(cut.tokens >= 5 * MIB / 4);
});

Deno.test("counts behind the output of a native response above 16 MiB are charged", async () => {
  const output = { type: "image_generation_call", id: "ig_1", result: "A".repeat(17 * MIB) };
  const response = { id: "resp_1", object: "response", created_at: 1, model: "m" };
  const whole = JSON.stringify({
    ...response,
    status: "completed",
    output: [output],
    usage: responsesUsage(COUNTS),
  });
  for (const path of ["/v1/responses", "/v1/responses/compact"]) {
    const body = path === "/v1/responses" ? { input: "Hi", store: false } : { input: "Hi" };
    assertEquals(await charged(path, body, "application/json", whole), {
      status: 502,
      tokens: 8_010,
      isEstimated: false,
    });
  }
});

Deno.test("counts of a large whole answer instead of a stream are charged", async () => {
  const [choice] = COMPLETION.choices as readonly JsonObject[];
  const parts = Array(2_000).fill("y".repeat(1_000));
  const long = { ...COMPLETION, choices: [{ ...choice, parts }], usage: chatUsage(COUNTS) };
  const longer = { ...long, parts: [...parts, ...parts] };
  const request = { ...MESSAGES, stream: true };
  for (const value of [long, longer]) {
    for (const indent of [0, 1]) {
      const text = JSON.stringify(value, null, indent);
      for (const type of ["application/json", "text/event-stream"]) {
        assertEquals(await charged("/v1/chat/completions", request, type, text), {
          status: 502,
          tokens: 8_010,
          isEstimated: false,
        });
      }
    }
  }
});

Deno.test("a record that is too large to be read, or is cut off, is charged by its length", async () => {
  const request = { ...MESSAGES, stream: true };
  const sent = Math.ceil(JSON.stringify({ model: "m", ...request }).length / 4);
  const record = (mib: number) => sse({ choices: [{ delta: { content: "x".repeat(mib * MIB) } }] });
  const small = sse({ choices: [{ index: 0, delta: { content: "Hi" } }] });
  const bodies = [
    [record(66), 64],
    [`${small}${record(66)}`, 64],
    [record(5).trimEnd(), 5],
    [`${small}${record(5).trimEnd()}`, 5],
  ] as const;
  for (const [body, mib] of bodies) {
    const { tokens, isEstimated } = await charged(
      "/v1/chat/completions",
      request,
      "text/event-stream",
      body,
    );
    assertEquals([Math.round(4 * (tokens - sent) / MIB), isEstimated], [mib, true]);
  }
});

Deno.test("records after one that cannot be delivered are charged by their text, also long ones", async () => {
  const request = { ...MESSAGES, stream: true };
  const sent = Math.ceil(JSON.stringify({ model: "m", ...request }).length / 4);
  const said = (content: string) => sse({ choices: [{ index: 0, delta: { content } }] });
  const long = "x".repeat(2 * MIB);
  const bodies = [
    [`${said(long)}${DONE}`, long.length],
    [said(long).slice(0, -4), long.length],
    // What is no text of the model counts for nothing, and neither does a short record without its
    // end.
    [`${sse({ choices: [], echo: long.slice(0, MIB / 2) })}${DONE}`, 4],
    [said(long.slice(0, MIB / 2)).slice(0, -4), 4],
  ] as const;
  for (const [after, bytes] of bodies) {
    const stream = `${said("Hey!")}data: {"choices": 1}\n\n${after}`;
    const { status, tokens, isEstimated } = await charged(
      "/v1/chat/completions",
      request,
      "text/event-stream",
      stream,
    );
    assertEquals([status, isEstimated], [200, true]);
    assert(Math.abs(tokens - sent - bytes / 4) < 40, `${tokens - sent} for ${bytes} bytes`);
  }
});

Deno.test("a record that has not arrived within 5 s is charged by what has arrived", async () => {
  const { promise: stalled, resolve: stall } = Promise.withResolvers<void>();
  let left = 6;
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (left-- === 6) controller.enqueue(new TextEncoder().encode("data: {"));
      else if (left >= 0) controller.enqueue(new Uint8Array(MIB).fill(32));
      else {
        stall();
        return new Promise(() => {});
      }
    },
  });
  const { tokens, isEstimated } = await charged(
    "/v1/chat/completions",
    { ...MESSAGES, stream: true },
    "text/event-stream",
    { body, stalled },
  );
  assertEquals([Math.round(4 * tokens / MIB), isEstimated], [5, true]);
});

Deno.test("a stream that begins with too much without content fails at once, and costs nothing", async () => {
  const body = new ReadableStream({
    type: "bytes",
    start: (controller) => controller.enqueue(new TextEncoder().encode(": x\n\n".repeat(1_500))),
  });
  const request = { ...MESSAGES, stream: true };
  const stream = { body, stalled: null };
  assertEquals(await charged("/v1/chat/completions", request, "text/event-stream", stream), {
    status: 502,
    tokens: 0,
    isEstimated: false,
  });
});

Deno.test("strings in a large answer without text are no output", async () => {
  const sent = (body: JsonObject) => Math.ceil(JSON.stringify({ model: "m", ...body }).length / 4);
  const large = JSON.stringify({ data: [{ embedding: "A".repeat(2 * MIB) }], deep: 1 })
    .replace(/1\}$/, `${"[".repeat(700)}${"]".repeat(700)}}`);
  const bodies: readonly (readonly [string, JsonObject])[] = [
    ["/v1/embeddings", { input: "Hi" }],
    ["/v1/rerank", { query: "Hi", documents: ["a"] }],
  ];
  for (const [path, body] of bodies) {
    const { tokens } = await charged(path, body, "application/json", large);
    assertEquals([path, tokens], [path, sent(body)]);
  }
});

const PROVIDER = `
providers: {up: {type: compat, base_url: "http://up", api_key: sk-a}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
pricing: {"up/*": {input: 2, output: 1}}
`;

Deno.test("counts of a large response whose client leaves while it is checked are charged", async () => {
  const client = new AbortController();
  let isRead = false;
  const text = tooLarge(JSON.stringify({ ...COMPLETION, usage: chatUsage(COUNTS) }));
  const world = clockWorld(() => {
    const body = new ReadableStream({
      type: "bytes",
      start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
      pull(controller) {
        isRead = true;
        controller.close();
        controller.byobRequest?.respond(0);
      },
    });
    const headers = { "content-type": "application/json" };
    return Promise.resolve(new Response(body, { headers }));
  });
  const turns = {
    next() {
      if (isRead) client.abort();
      return null;
    },
  };
  const gateway = testGateway(LIMITS + PROVIDER, world, { turns });
  const request = new Request(chatRequest({ headers: keyOf("ada") }), { signal: client.signal });
  await (await gateway.app(request)).body?.cancel();
  assert(client.signal.aborted);
  const { quotas, reports } = await chargesOf(gateway);
  assertEquals([quotas.tokens, reports.at(-1)?.estimated], [8_010, false]);
});

/** Returns a stream of these bytes in gzip that does not end. */
function endlessGzip(bytes: Uint8Array): ReadableStream {
  return new ReadableStream({
    type: "bytes",
    start: (controller) => controller.enqueue(new Uint8Array(gzipSync(bytes).subarray(0, -64))),
  });
}

for (const coding of [null, "gzip"]) {
  Deno.test(`a native response beyond its bound${coding === null ? "" : " in gzip"} is read on for its counts for at most 4 s`, async () => {
    const text = JSON.stringify({
      id: "resp_1",
      object: "response",
      usage: responsesUsage(COUNTS),
    });
    const beginning = new TextEncoder().encode(`${text.slice(0, -1)},"output":"`);
    const filling = new Uint8Array(1 * MIB).fill("x".charCodeAt(0));
    const config = LIMITS +
      PROVIDER.replace("provider: up", "provider: up, upstream_request_type: responses");
    const world = clockWorld(() => {
      let left = 17;
      const body = new ReadableStream({
        type: "bytes",
        start: (controller) => controller.enqueue(beginning.slice()),
        // Nothing comes after it.
        pull: (controller) =>
          left-- > 0 ? controller.enqueue(filling.slice()) : new Promise<void>(() => {}),
      });
      const headers = {
        "content-type": "application/json",
        ...coding !== null && { "content-encoding": coding },
      };
      const sent = coding === null
        ? body
        : endlessGzip(concatBytes([beginning, ...Array.from({ length: 17 }, () => filling)]));
      return Promise.resolve(new Response(sent, { headers }));
    });
    const gateway = testGateway(config, world);
    const request = new Request("http://gateway.test/v1/responses", {
      method: "POST",
      headers: { ...keyOf("ada"), "content-type": "application/json" },
      body: JSON.stringify({ model: "m", input: "Hi" }),
    });
    const responding = gateway.app(request);
    let isOver = false;
    void responding.then(() => isOver = true);
    // The decompression is not of the scripted world.
    const { admission } = gateway.gateway.state;
    for (let turns = 0; admission.responseBytes() <= 16 * MIB; turns++) {
      assert(turns < 100_000, `${admission.responseBytes()} bytes are read`);
      await new Promise((go) => setTimeout(go, 0));
    }
    await world.advance(3_900);
    assertEquals(isOver, false);
    await world.advance(200);
    assertEquals((await responding).status, 502);
    await (await responding).body?.cancel();
    assertEquals((await chargesOf(gateway)).quotas.tokens, 8_010);
  });
}

/** Returns a response that breaks off after this text. */
function breakingOff(status: number, text: string, fields: Readonly<Record<string, string>> = {}) {
  let isRead = false;
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (isRead) controller.error(new TypeError("cut"));
      else controller.enqueue(new TextEncoder().encode(text));
      isRead = true;
    },
  });
  const headers = { "content-type": "application/json", ...fields };
  return Promise.resolve(new Response(body, { status, headers }));
}

Deno.test("counts in a whole response or an error that breaks off are charged", async () => {
  const text = JSON.stringify({ usage: chatUsage(COUNTS), ...COMPLETION }).slice(0, -9);
  for (const fields of [{}, { "content-length": `${MIB}` }]) {
    for (const status of [200, 202, 400, 401, 500]) {
      const gateway = limitedGateway(LIMITS, {
        providers: PROVIDER,
        fetch: () => breakingOff(status, text, fields),
      });
      const response = await gateway.app(chatRequest({ headers: keyOf("ada") }));
      await response.body?.cancel();
      const { quotas, reports } = await chargesOf(gateway);
      assertEquals(
        [status, response.status >= 400, quotas.tokens, reports.at(-1)?.estimated],
        [status, true, 8_010, false],
      );
    }
  }
});

Deno.test("a response that breaks off without counts is charged nothing", async () => {
  const gateway = limitedGateway(LIMITS, {
    providers: PROVIDER,
    fetch: () => breakingOff(200, JSON.stringify(COMPLETION).slice(0, -9)),
  });
  await (await gateway.app(chatRequest({ headers: keyOf("ada") }))).body?.cancel();
  assertEquals((await chargesOf(gateway)).quotas.tokens, 0);
});

Deno.test("counts in the first MiB of a large error are charged", async () => {
  const error = { usage: chatUsage(COUNTS), error: { message: "x".repeat(2 * MIB) } };
  for (const status of [202, 400, 500]) {
    const gateway = limitedGateway(LIMITS, {
      providers: PROVIDER,
      fetch: () => answers(status, error),
    });
    await (await gateway.app(chatRequest({ headers: keyOf("ada") }))).body?.cancel();
    const { quotas, reports } = await chargesOf(gateway);
    assertEquals([status, quotas.tokens, reports.at(-1)?.estimated], [status, 8_010, false]);
  }
});

Deno.test("counts at the end of a large answer with an unusual status are charged", async () => {
  const [choice] = COMPLETION.choices as readonly JsonObject[];
  const message = { role: "assistant", content: "x".repeat(2 * MIB) };
  const body = { ...COMPLETION, choices: [{ ...choice, message }], usage: chatUsage(COUNTS) };
  for (const status of [201, 399]) {
    const gateway = limitedGateway(LIMITS, {
      providers: PROVIDER,
      fetch: () => answers(status, body),
    });
    const response = await gateway.app(chatRequest({ headers: keyOf("ada") }));
    await response.body?.cancel();
    const { quotas } = await chargesOf(gateway);
    assertEquals([response.status, quotas.tokens], [502, 8_010]);
  }
});
