import { utf8Bytes } from "../../src/formats/utf8.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { privacyConfig } from "../privacy/rules.ts";
import { until } from "../support/valkey_server.ts";
import { scriptedWorld } from "../support/world.ts";

const MAX_BYTES = 4_000_000;

/** Bytes of a call that are not counted before they are this many. */
const COUNTED_BYTES = 64 * 1024;

/** A gateway whose provider sends what the test writes, in the order of the requests. */
function growing(attempts = 1, sections = "") {
  const writers: ReadableByteStreamController[] = [];
  const cancelled = new Set<number>();
  let contentType = "text/event-stream";
  const world = scriptedWorld({
    fetch(_url, init) {
      const number = writers.length;
      const body = new ReadableStream({
        type: "bytes",
        start(controller) {
          writers.push(controller);
          init.signal?.addEventListener("abort", () => {
            cancelled.add(number);
            controller.error(new TypeError("the gateway has gone"));
          });
        },
      });
      return Promise.resolve(new Response(body, { headers: { "content-type": contentType } }));
    },
  });
  const config = oneProvider("http://up.test").replace(
    "retry: {enabled: false}",
    `retry: {max_attempts: ${attempts}}\nserver: {max_response_memory: ${MAX_BYTES}}`,
  ) + sections;
  const tested = testGateway(config, world);
  let largest = 0;

  return {
    ...tested,
    world,
    cancelled,
    count: () => writers.length,
    largest: () => largest,
    /** Sends a request, and returns its response once the provider has it. */
    async ask(path: string, body: unknown, type = "text/event-stream") {
      contentType = type;
      const before = writers.length;
      const request = new Request(`http://localhost${path}`, {
        method: "POST",
        body: JSON.stringify(body),
      });
      const response = tested.app(request);
      await until(() => Promise.resolve(writers.length > before));
      return { number: before, text: response.then((one) => one.text()), response };
    },
    /**
     * Writes a piece of a response, and waits until the gateway has read it or has given the
     * response up.
     */
    async write(number: number, text: string) {
      if (cancelled.has(number)) return;
      writers[number]?.enqueue(utf8Bytes(text));
      await until(() =>
        Promise.resolve(cancelled.has(number) || (writers[number]?.desiredSize ?? 0) >= 0)
      );
      await world.advance(0);
      largest = Math.max(largest, gauge());
    },
    end(number: number) {
      if (cancelled.has(number)) return;
      writers[number]?.close();
      // A read that waits learns of the end only by this.
      writers[number]?.byobRequest?.respond(0);
    },
    gauge,
    /** How the calls have ended. */
    ends() {
      return tested.reports.map(({ failure }) => failure?.kind ?? "complete");
    },
  };

  /** The value of the gauge `gateway_response_body_bytes`. */
  function gauge(): number {
    return tested.gateway.state.admission.responseBytes();
  }
}

/** A chunk with this delta. */
function chunk(delta: unknown, reason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: reason }];
  return `data: ${JSON.stringify({ ...COMPLETION, object: "chat.completion.chunk", choices })}\n\n`;
}

/** The same chunk for the second choice. */
function otherOf(chunk: string): string {
  return chunk.replace('"index":0', '"index":1');
}

function argumentsOf(text: string, name?: string): string {
  const called = { ...name !== undefined && { name }, arguments: text };
  const id = name === undefined ? {} : { id: "call_1", type: "function" };
  return chunk({ role: "assistant", tool_calls: [{ index: 0, ...id, function: called }] });
}

const TURN = {
  model: "m",
  max_tokens: 100,
  stream: true,
  messages: [{ role: "user", content: "Hi" }],
  tools: [{ name: "write", input_schema: { type: "object" } }],
};

const CHAT = { model: "m", messages: [{ role: "user", content: "Hi" }] };

Deno.test("many streams with long tool arguments never hold more than server.max_response_memory", async () => {
  const gateway = growing();
  const small = await gateway.ask("/v1/messages", TURN);
  await gateway.write(small.number, chunk({ role: "assistant", content: "small " }));
  const streams = [];
  for (let count = 0; count < 8; count++) {
    const stream = await gateway.ask("/v1/messages", TURN);
    await gateway.write(stream.number, argumentsOf('{"text":"', "write"));
    streams.push(stream);
  }
  for (let piece = 0; piece < 25; piece++) {
    for (const { number } of streams) await gateway.write(number, argumentsOf("x".repeat(60_000)));
  }
  assert(gateway.largest() > MAX_BYTES / 2, String(gateway.largest()));
  assert(gateway.largest() <= MAX_BYTES, String(gateway.largest()));
  const isGone = ({ number }: { number: number }) => gateway.cancelled.has(number);
  const [gone, held] = [streams.filter(isGone), streams.filter((one) => !isGone(one))];
  assertEquals([gone.length, held.length], [6, 2]);
  for (const { number } of held) {
    await gateway.write(number, argumentsOf('"}') + chunk({}, "tool_calls") + "data: [DONE]\n\n");
    gateway.end(number);
  }
  for (const { text } of held) assertStringIncludes(await text, "message_stop");
  for (const { text } of gone) {
    const received = await text;
    assertStringIncludes(received, "server.max_response_memory");
    assert(!received.includes("message_stop"));
  }
  await gateway.write(small.number, chunk({ content: "text" }, "stop") + "data: [DONE]\n\n");
  gateway.end(small.number);
  assertStringIncludes(await small.text, "message_stop");
  const kinds = gateway.ends().toSorted();
  assertEquals(kinds, [...Array(3).fill("complete"), ...Array(6).fill("overloaded")]);
  assertEquals([gateway.count(), gateway.gauge()], [9, 0], "no call was tried again");
});

Deno.test("events that rules of privacy hold back never hold more than server.max_response_memory", async () => {
  const rules = privacyConfig(["phase: response, find: [email], action: mask"]);
  const gateway = growing(1, rules);
  const streams = [];
  for (let count = 0; count < 8; count++) {
    const stream = await gateway.ask("/v1/chat/completions", { ...CHAT, stream: true });
    await gateway.write(stream.number, chunk({ role: "assistant", content: "Write to ada@exam" }));
    streams.push(stream);
  }
  for (let piece = 0; piece < 15; piece++) {
    const other = otherOf(chunk({ content: "x".repeat(60_000) }));
    for (const { number } of streams) await gateway.write(number, other);
  }
  assert(gateway.largest() > MAX_BYTES / 2, String(gateway.largest()));
  assert(gateway.largest() <= MAX_BYTES, String(gateway.largest()));
  const isGone = ({ number }: { number: number }) => gateway.cancelled.has(number);
  const [gone, held] = [streams.filter(isGone), streams.filter((one) => !isGone(one))];
  for (const { number } of held) {
    const ends = [chunk({ content: "ple.com" }, "stop"), otherOf(chunk({}, "stop"))];
    await gateway.write(number, ends.join("") + "data: [DONE]\n\n");
    gateway.end(number);
  }
  for (const { text } of held) assertStringIncludes(await text, "Write to [email]");
  for (const { text } of gone) assertStringIncludes(await text, "upstream_stream_error");
  assertEquals([gone.length, held.length, gateway.gauge()], [4, 4, 0]);
  const kinds = gateway.ends().toSorted();
  assertEquals(kinds, [...Array(4).fill("complete"), ...Array(4).fill("overloaded")]);
});

Deno.test("many whole responses that are read together never hold more than server.max_response_memory", async () => {
  const gateway = growing();
  const calls = [];
  for (let count = 0; count < 6; count++) {
    calls.push(await gateway.ask("/v1/chat/completions", CHAT, "application/json"));
  }
  const [beginning, end] = JSON.stringify({
    ...COMPLETION,
    choices: [{ index: 0, message: { role: "assistant", content: "#" }, finish_reason: "stop" }],
  }).split("#");
  for (const { number } of calls) await gateway.write(number, beginning ?? "");
  for (let piece = 0; piece < 30; piece++) {
    for (const { number } of calls) await gateway.write(number, "x".repeat(50_000));
  }
  assert(gateway.largest() > MAX_BYTES / 2, String(gateway.largest()));
  assert(gateway.largest() <= MAX_BYTES + COUNTED_BYTES, String(gateway.largest()));
  const statuses = [];
  for (const { number, response, text } of calls) {
    await gateway.write(number, end ?? "");
    gateway.end(number);
    const received = await response;
    statuses.push(received.status);
    if (received.status === 503) assertEquals(received.headers.get("retry-after"), "1");
    assertStringIncludes(
      await text,
      received.status === 200 ? "xxx" : "server.max_response_memory",
    );
  }
  assertEquals(statuses.toSorted(), [200, 200, 503, 503, 503, 503]);
  assertEquals([gateway.count(), gateway.gauge()], [6, 0], "no call was tried again");
});

Deno.test("one response alone may be larger than server.max_response_memory", async () => {
  const gateway = growing();
  const { number, response, text } = await gateway.ask(
    "/v1/chat/completions",
    CHAT,
    "application/json",
  );
  const content = "x".repeat(2 * MAX_BYTES);
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  await gateway.write(number, JSON.stringify({ ...COMPLETION, choices }));
  gateway.end(number);
  assertEquals([(await response).status, (await text).includes(content)], [200, true]);
  assert(gateway.largest() > MAX_BYTES, String(gateway.largest()));
  assertEquals(gateway.gauge(), 0);
});

Deno.test("a failed attempt counts no more when the next one begins", async () => {
  const gateway = growing(2);
  const { number, text } = await gateway.ask("/v1/chat/completions", { ...CHAT, stream: true });
  await gateway.write(number, `: ${"x".repeat(200_000)}\n\n`);
  assert(gateway.largest() > 200_000);
  await gateway.write(number, 'data: {"error": {"message": "no"}}\n\n');
  await gateway.world.advance(10_000);
  assertEquals(gateway.count(), 2);
  assertEquals(gateway.gauge(), 0);
  await gateway.write(1, chunk({ content: "Hello" }, "stop") + "data: [DONE]\n\n");
  gateway.end(1);
  assertStringIncludes(await text, "Hello");
});

Deno.test("a whole response that is not valid counts no more when the next attempt begins", async () => {
  const gateway = growing(2);
  const { number, text } = await gateway.ask("/v1/chat/completions", CHAT, "application/json");
  await gateway.write(number, "x".repeat(200_000));
  assert(gateway.largest() > 100_000, String(gateway.largest()));
  gateway.end(number);
  await gateway.world.advance(10_000);
  assertEquals([gateway.count(), gateway.gauge()], [2, 0]);
  const message = { role: "assistant", content: "Hello" };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  await gateway.write(1, JSON.stringify({ ...COMPLETION, choices }));
  gateway.end(1);
  assertStringIncludes(await text, "Hello");
});
