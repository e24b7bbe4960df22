import { gzipSync } from "node:zlib";
import {
  type Attack,
  countsOf,
  many,
  MAX_GROWTH_MIB,
  oneProvider,
  outcomeOf,
  send,
} from "./support.ts";

const MIB = 1024 * 1024;

/** Bytes of the whole response, just below the bound of 64 MiB. */
const RESPONSE_BYTES = 62_000_000;

/** Empty arrays in a text that the gateway still parses: four steps each, 2,000,000 in all. */
const PARSED_ARRAY_COUNT = 499_000;

const CHAT = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] });

/** Returns a completion with this member, of text, behind its usual ones. */
function completion(member: string): string {
  const message = { role: "assistant", content: "Hi." };
  const whole = JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message, finish_reason: "stop" }],
  });
  return `${whole.slice(0, -1)},${member}}`;
}

function nested(bytes: number): string {
  const one = '{"a":{"b":[{}]}}';
  return completion(`"x":[${Array(Math.floor(bytes / (one.length + 1))).fill(one).join(",")}]`);
}

function arrays(count: number): string {
  return completion(`"x":[${Array(count).fill("[]").join(",")}]`);
}

/** Returns the upstream that always responds with this text. */
function responding(text: () => string, encode: (bytes: Uint8Array) => Uint8Array, encoding = "") {
  let body: Uint8Array<ArrayBuffer> | null = null;
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (encoding !== "") headers["content-encoding"] = encoding;
  return () => {
    body ??= new Uint8Array(encode(new TextEncoder().encode(text())));
    return new Response(body, { headers });
  };
}

/** Returns an attack whose upstream responds with JSON of very many nested objects. */
function whole(row: string, what: string, upstream: () => Response, expected: number): Attack {
  return {
    row,
    size: (times) => `${times} at once of ${what}`,
    config: (url) => ({ ...oneProvider(url), retry: { enabled: false } }),
    upstream,
    async load({ url }, times) {
      const answers = await many(times, () => send(`${url}/v1/chat/completions`, CHAT));
      const isExpected = answers.every(({ status }) => [expected, 503].includes(status));
      if (!isExpected) throw new Error(`Not ${expected}: ${outcomeOf(answers)}`);
      return outcomeOf(answers);
    },
    // What one response costs is bounded absolutely, because no multiple of its size holds for all:
    // the 1.5 MB of `A3 parsed` take 13 times as much as values.
    maxGrowthMib: (times) => times === 1 ? 512 : MAX_GROWTH_MIB,
  };
}

/** Streams whose tool call grows without an end, to a client of the Messages API. */
const growingStream: Attack = {
  row: "A3 stream",
  size: (times) => `${8 * times} calls that grow`,
  config: (url) => ({ ...oneProvider(url), retry: { enabled: false } }),
  upstream: growing,
  async load({ url }, times) {
    const body = JSON.stringify({
      model: "m",
      max_tokens: 1000,
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ name: "write", input_schema: { type: "object" } }],
    });
    const answers = await many(8 * times, () => send(`${url}/v1/messages`, body));
    const endOf = (text: string) =>
      /"message":\s*"([^"]{0,70})/.exec(text.slice(-2000))?.[1] ?? text.slice(-60);
    return countsOf(answers.map(({ status, text }) => `${status} ${endOf(text)}`));
  },
};

/** Responds with a stream of a tool call whose arguments have 100 MiB. */
function growing(): Response {
  const chunk = (call: object) =>
    `data: ${
      JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }],
      })
    }\n\n`;
  const head = { id: "call_1", type: "function", function: { name: "write", arguments: '{"a":[' } };
  const piece = new TextEncoder().encode(
    chunk({ function: { arguments: '{"b":{}},'.repeat(7_000) } }),
  );
  let sent = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      controller.enqueue(sent === 0 ? new TextEncoder().encode(chunk(head)) : piece);
      sent += piece.length;
      if (sent > 100 * MIB) controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Responses of providers with very many nested objects: whole, compressed and streamed. */
export const nestedJson: readonly Attack[] = [
  whole(
    "A3 whole",
    "62 MB",
    responding(() => nested(RESPONSE_BYTES), (bytes) => bytes),
    502,
  ),
  whole(
    "A3 gzip",
    "62 MB as gzip",
    responding(() => nested(RESPONSE_BYTES), gzipSync, "gzip"),
    502,
  ),
  whole(
    "A3 parsed",
    "499,000 arrays",
    responding(() => arrays(PARSED_ARRAY_COUNT), (bytes) => bytes),
    200,
  ),
  growingStream,
];
