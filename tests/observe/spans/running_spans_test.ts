import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { chatRequest, COMPLETION } from "../../support/chat_call.ts";
import { oneProvider } from "../../support/gateway.ts";
import { parsedConfig } from "../../support/parsed_config.ts";
import { create } from "../../support/socket_client.ts";
import { type SocketGateway, socketGateway } from "../../support/socket_gateway.ts";
import { collectedSpans } from "./traced.ts";

const COUNTS = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };

/**
 * The spans of a gateway on a socket whose provider, on another one, responds like `answer`. They
 * are exported when `calls` has ended and this many calls are over.
 */
async function spansWith(
  answer: (body: JsonObject, path: string) => Response,
  over: number,
  calls: (served: SocketGateway) => Promise<void>,
  change: (config: string) => string = (config) => config,
): Promise<readonly ReadableSpan[]> {
  await using upstream = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const text = await request.text();
      return answer(text === "" ? {} : JSON.parse(text), new URL(request.url).pathname);
    },
  );
  const config = change(oneProvider(`http://127.0.0.1:${upstream.addr.port}/v1`));
  const parsed = parsedConfig(config);
  const { spans, finished } = await collectedSpans(() => parsed);
  {
    await using served = socketGateway(config, { began: spans.begin, sink: spans.sink });
    await calls(served);
    await served.reported(over);
  }
  return await finished();
}

function chunks(...parts: readonly JsonObject[]): readonly string[] {
  return parts.map((part) => {
    const chunk = {
      id: "chatcmpl-9",
      object: "chat.completion.chunk",
      created: 1,
      model: "m-2027",
    };
    return `data: ${JSON.stringify({ ...chunk, ...part })}\n\n`;
  });
}

const WORDS = chunks(
  { choices: [{ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  { choices: [], usage: COUNTS },
);

function streamed(body: BodyInit, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(body, { headers: { "content-type": "text/event-stream", ...headers } });
}

function packed(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
}

/** A provider whose stream pauses after its first chunk until it is cut. */
function cutStream() {
  const [first = ""] = WORDS;
  let controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | null = null;
  const start = (one: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>) => {
    controller = one;
    one.enqueue(new TextEncoder().encode(first));
  };
  return {
    answer: () => streamed(new ReadableStream({ start })),
    cut: () => controller?.error(new Error("The provider has gone.")),
  };
}

/** Sends a chat request and reads its response as far as it comes. */
async function chat(
  { url }: SocketGateway,
  body: JsonObject = {},
  received = () => {},
): Promise<string> {
  const response = await fetch(chatRequest({ url, body }));
  let text = "";
  try {
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      text += part;
      received();
    }
  } catch {
    // A broken stream ends like this.
  }
  return text;
}

/** Kind, status and these attributes of each span. */
function factsOf(spans: readonly ReadableSpan[], ...names: readonly string[]) {
  return spans.map(({ kind, status, attributes }) => [
    kind === 1 ? "server" : "client",
    status.code === 2 ? "error" : "unset",
    ...names.map((name) => attributes[name]),
  ]);
}

Deno.test("each turn of a WebSocket is a span with an attempt, linked to that of the handshake", async () => {
  const spans = await spansWith(
    () => streamed([...WORDS, "data: [DONE]\n\n"].join("")),
    3,
    async (served) => {
      await using client = await served.open();
      assertEquals((await client.turn(create())).ending, "response.completed");
      assertEquals((await client.turn(create())).ending, "response.completed");
    },
  );
  assertEquals(factsOf(spans, "http.response.status_code", "gen_ai.usage.input_tokens"), [
    ["server", "unset", 101, undefined],
    ["server", "unset", 200, undefined],
    ["server", "unset", 200, undefined],
    ["client", "unset", 200, 12],
    ["client", "unset", 200, 12],
  ]);
  const [handshake, ...others] = spans;
  const turns = others.filter(({ kind }) => kind === 1);
  const attempts = others.filter(({ kind }) => kind === 2);
  for (const turn of turns) {
    assertEquals(turn.links.map(({ context }) => context.spanId), [
      handshake?.spanContext().spanId,
    ]);
  }
  assertEquals(
    attempts.map(({ parentSpanContext }) => parentSpanContext?.spanId),
    turns.map((turn) => turn.spanContext().spanId),
  );
});

Deno.test("a turn of a WebSocket whose stream breaks is an error, and so is its attempt", async () => {
  const { answer, cut } = cutStream();
  const spans = await spansWith(answer, 2, async (served) => {
    await using client = await served.open();
    client.send(create());
    while ((await client.next()).type !== "response.output_text.delta");
    cut();
    assertEquals((await client.rest()).ending, "response.failed");
  });
  assertEquals(factsOf(spans, "error.type", "switchyard.end"), [
    ["server", "unset", undefined, "complete"],
    ["server", "error", "upstream_unreachable", "stream_broken"],
    ["client", "error", "upstream_unreachable", undefined],
  ]);
});

Deno.test("a broken stream is an error of the request and of its one attempt", async () => {
  const { answer, cut } = cutStream();
  const spans = await spansWith(answer, 1, async (served) => {
    assert((await chat(served, { stream: true }, cut)).includes('"Hi"'));
  });
  const names = ["error.type", "http.response.status_code", "gen_ai.response.model"];
  assertEquals(factsOf(spans, ...names, "gen_ai.usage.output_tokens"), [
    ["server", "error", "upstream_unreachable", 200, undefined, undefined],
    ["client", "error", "upstream_unreachable", 200, "m-2027", undefined],
  ]);
  const [call, attempt] = spans;
  assertEquals(attempt?.endTime, call?.endTime);
});

Deno.test("compressed responses are read for their spans, whole and as streams", async () => {
  const spans = await spansWith(
    ({ stream }) => {
      const headers = { "content-encoding": "gzip" };
      if (stream === true) {
        return streamed(packed([...WORDS, "data: [DONE]\n\n"].join("")), headers);
      }
      const text = JSON.stringify({ ...COMPLETION, model: "m-2027", usage: COUNTS });
      return new Response(packed(text), {
        headers: { "content-type": "application/json", ...headers },
      });
    },
    2,
    async (served) => {
      await chat(served);
      await chat(served, { stream: true, stream_options: { include_usage: true } });
    },
  );
  const names = ["gen_ai.response.model", "gen_ai.usage.input_tokens"];
  assertEquals(factsOf(spans, ...names, "gen_ai.response.finish_reasons"), [
    ["server", "unset", undefined, undefined, undefined],
    ["server", "unset", undefined, undefined, undefined],
    ["client", "unset", "m-2027", 12, ["stop"]],
    ["client", "unset", "m-2027", 12, ["stop"]],
  ]);
});

Deno.test("a response in the background has no reason before its end, and its read is no generation", async () => {
  const capabilities = "responses_lifecycle: true, background_responses: true";
  const states: JsonObject[] = [
    { status: "queued", output: [] },
    {
      status: "completed",
      output: [],
      usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
    },
  ];
  const spans = await spansWith(
    () => {
      const state = states.shift() ?? {};
      return Response.json({
        id: "resp_1",
        object: "response",
        created_at: 1,
        model: "m",
        ...state,
      });
    },
    2,
    async ({ url }) => {
      const made = await fetch(`${url}/v1/responses`, {
        method: "POST",
        body: JSON.stringify({ model: "m", input: "Hi", background: true }),
      });
      const { id } = await made.json();
      assertEquals((await (await fetch(`${url}/v1/responses/${id}`)).json()).status, "completed");
    },
    (config) =>
      config
        .replace("-secret}", "-secret, capabilities: {" + capabilities + "}}")
        .replace("{provider: up}", "{provider: up, upstream_request_type: responses}"),
  );
  const names = ["gen_ai.operation.name", "gen_ai.response.id", "gen_ai.response.finish_reasons"];
  assertEquals(factsOf(spans, ...names), [
    ["server", "unset", undefined, undefined, undefined],
    ["server", "unset", undefined, undefined, undefined],
    ["client", "unset", "chat", "resp_1", undefined],
    ["client", "unset", undefined, undefined, undefined],
  ]);
});

Deno.test("a request and a response of 10 MB have the spans of small ones", async () => {
  const content = "x".repeat(10_000_000);
  const spans = await spansWith(
    () => {
      const message = { role: "assistant", content };
      const choices = [{ index: 0, message, finish_reason: "length" }];
      return Response.json({ ...COMPLETION, choices, usage: COUNTS });
    },
    1,
    async (served) => {
      const messages = [{ role: "user", content }];
      assert((await chat(served, { messages, temperature: 0.25 })).length > content.length);
    },
  );
  const names = ["gen_ai.request.temperature", "gen_ai.response.id"];
  assertEquals(factsOf(spans, ...names, "gen_ai.usage.input_tokens"), [
    ["server", "unset", undefined, undefined, undefined],
    ["client", "unset", 0.25, "chatcmpl-1", 12],
  ]);
  for (const { attributes } of spans) assert(JSON.stringify(attributes).length < 2_000);
});
