import { type Attack, countsOf, many, oneProvider } from "./support.ts";

const KIB = 1024, MIB = 1024 * KIB;

/** Streams at the same time, and bytes of each. */
const STREAM_COUNT = 4, STREAM_BYTES = 200 * MIB;

/** Records of one stream, by their number. */
type RecordAt = (at: number) => string;

const LONG = "x".repeat(2 * MIB);

/** Empty arrays in a text that the gateway still parses: four steps each, 2,000,000 in all. */
const ARRAYS = JSON.stringify(Array(499_000).fill([]));

const CHAT = { model: "m", stream: true, messages: [{ role: "user", content: "Hi" }] };

/** A Messages request. */
const MESSAGES = {
  path: "/v1/messages",
  body: { ...CHAT, max_tokens: 100, tools: [{ name: "f", input_schema: { type: "object" } }] },
};

/** A Responses request that a provider gets as it is. */
const NATIVE = {
  path: "/v1/responses",
  body: { model: "m", stream: true, input: "Hi" },
  provider: { capabilities: { responses_lifecycle: true } },
  config: {
    routing: {
      routes: [{
        name: "up",
        targets: [{ provider: "up", upstream_request_type: "responses" }],
      }],
    },
  },
};

/** Choices of one chunk: as many as the gateway accepts. */
const CHOICES_COUNT = 1_000;

const EMPTY_LINES = "data:\n".repeat(600_000);

const TOOL = { type: "function", function: { name: "f", parameters: { type: "object" } } };

function data(value: object, before = ""): string {
  return `${before}data: ${JSON.stringify(value)}\n\n`;
}

function chunk(delta: object, finish_reason: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason }];
  return { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices };
}

function streaming(recordAt: RecordAt): () => Response {
  return () => {
    let sent = 0;
    let at = 0;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        const bytes = new TextEncoder().encode(recordAt(at++));
        controller.enqueue(bytes);
        sent += bytes.length;
        if (sent > STREAM_BYTES) controller.close();
      },
    }, { highWaterMark: 0 });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

/** A stream of which each record has a long text that is of no use after it. */
interface KeptStream {
  readonly row: string;
  readonly what: string;
  readonly recordAt: RecordAt;
  readonly path?: string;
  readonly body?: object;
  readonly provider?: object;
  readonly config?: object;
}

const STREAMS: readonly KeptStream[] = [
  {
    row: "A3 calls",
    what: "calls with long arguments",
    recordAt: (index) =>
      data(chunk(
        index === 0 ? { content: "a" } : {
          tool_calls: [{ index, id: `call_${index}`, function: { name: "f", arguments: LONG } }],
        },
      )),
    body: { ...CHAT, tools: [TOOL] },
  },
  {
    row: "A3 indexes",
    what: "calls with long indexes",
    recordAt: (at) =>
      data(chunk(
        at === 0 ? { content: "a" } : {
          tool_calls: [{ index: `${at}${LONG}`, id: `call_${at}`, function: { name: "f" } }],
        },
      )),
    body: { ...CHAT, tools: [TOOL] },
  },
  {
    row: "A3 signatures",
    what: "calls without an ID that are signed",
    recordAt: (index) =>
      data(chunk(
        index === 0
          ? { content: "a" }
          : { tool_calls: [{ index, extra_content: { a: LONG }, function: { name: "f" } }] },
      )),
    ...MESSAGES,
  },
  {
    row: "A3 blocks",
    what: "blocks with a long input that never end",
    recordAt: (index) =>
      index === 0
        ? data({ type: "message_start", message: { id: "m", model: "m", usage: {} } }) +
          data({
            type: "content_block_start",
            index: 0,
            content_block: { type: "text", text: "a" },
          })
        : data({
          type: "content_block_start",
          index,
          content_block: { type: "tool_use", id: `t${index}`, name: "f", input: { a: LONG } },
        }),
    body: { ...CHAT, tools: [TOOL] },
    provider: { type: "messages" },
  },
  {
    row: "A3 items",
    what: "items beside a long text",
    recordAt: (at) =>
      at === 0
        ? data({
          type: "response.created",
          sequence_number: 0,
          response: { id: "resp_1", object: "response", status: "in_progress" },
        })
        : data({
          type: "response.output_item.done",
          sequence_number: at,
          output_index: at,
          item: { type: "message", id: `msg_${at}`, role: "assistant", content: [] },
          obfuscation: LONG,
        }),
    ...NATIVE,
  },
  {
    row: "A3 comments",
    what: "chunks beside long comments that wait for the ID of a call",
    recordAt: (at) =>
      at === 0
        ? data(chunk({ content: "a" }))
        : data(chunk({ tool_calls: [{ index: 0, function: { name: "f" } }] }), `: ${LONG}\n`),
    body: { ...CHAT, tools: [TOOL] },
  },
  {
    row: "A3 lines",
    what: "chunks with very many empty lines of data",
    recordAt: () => `data: ${JSON.stringify(chunk({ content: "a" }))}\n${EMPTY_LINES}\n`,
    body: CHAT,
  },
  {
    row: "A3 choices",
    what: "choices with a call",
    recordAt: (at) => {
      const choices = Array.from({ length: CHOICES_COUNT }, (_, index) => ({
        index,
        delta: { tool_calls: [{ index: at, id: `c${at}`, function: { name: "f" } }] },
      }));
      return data({ ...chunk({}), choices });
    },
    body: { ...CHAT, tools: [TOOL] },
  },
  {
    row: "A3 short calls",
    what: "short calls",
    recordAt: (at) => {
      const tool_calls = Array.from({ length: CHOICES_COUNT }, (_, place) => {
        const index = at * CHOICES_COUNT + place;
        return { index, id: `c${index}`, function: { name: "f" } };
      });
      return data(chunk({ tool_calls }));
    },
    ...MESSAGES,
  },
  {
    row: "A3 records",
    what: "chunks of 499,000 arrays",
    recordAt: (at) => `${data(chunk({ content: "a" })).slice(0, -3)},"x${at}":${ARRAYS}}\n\n`,
    ...MESSAGES,
  },
  {
    row: "A3 names",
    what: "texts below a long name, with privacy rules",
    recordAt: (at) =>
      data({ type: "x.delta", sequence_number: at, [LONG]: Array(50_000).fill("a") }),
    ...NATIVE,
    config: {
      ...NATIVE.config,
      privacy: {
        rules: [{ name: "mail", find: ["email"], phase: "response", action: "mask" }],
        policies: [{ name: "p", rules: ["mail"] }],
        default: "p",
      },
    },
  },
];

/** Streams whose records have long texts that are of no use after them. */
export const keptTexts: readonly Attack[] = STREAMS.map((
  { row, what, recordAt, path = "/v1/chat/completions", body = CHAT, provider = {}, config = {} },
) => ({
  row,
  size: (times) => `${STREAM_COUNT * times} streams of ${what}, 200 MB each`,
  config: (upstream) => ({
    ...oneProvider(upstream, provider),
    retry: { enabled: false },
    ...config,
  }),
  upstream: streaming(recordAt),
  async load({ url }, times) {
    const answers = await many(
      STREAM_COUNT * times,
      () => lastOf(`${url}${path}`, JSON.stringify(body)),
    );
    return countsOf(answers);
  },
}));

/** Reads a stream without keeping it; returns its status and how it ends. */
async function lastOf(url: string, body: string): Promise<string> {
  const response = await fetch(url, { method: "POST", body });
  let last = "";
  for await (const piece of response.body ?? []) {
    last = (last + new TextDecoder().decode(piece.subarray(-1_000))).slice(-1_000);
  }
  const end = /"message":\s*"([^"]{0,70})/.exec(last)?.[1] ?? last.slice(-40).trim();
  return `${response.status} ${end}`;
}
