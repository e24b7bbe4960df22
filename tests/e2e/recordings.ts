/**
 * With how many bytes there is something for the client, and with how many the answer is complete.
 */
type Marks = readonly [usableFrom: number, completeFrom: number];

/** A stream as a provider sent it, and where in it things happen. */
export interface Recording {
  readonly wire: "compat" | "messages" | "local";
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Marks when an orderly end follows. */
  readonly clean: Marks;
  /** Marks when the connection breaks. */
  readonly reset: Marks;
}

const encoder = new TextEncoder();

function bytesOf(records: readonly string[], separator: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(records.map((record) => record + separator).join(""));
}

function lengthOf(records: readonly string[], separator: string): number {
  return bytesOf(records, separator).length;
}

const COMPAT_HEAD =
  '"id":"chatcmpl-7","object":"chat.completion.chunk","created":1700000007,"model":"gpt-x"';

function compatChunk(delta: string, finish = "null"): string {
  return `data: {${COMPAT_HEAD},"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}`;
}

/** The records of a Chat Completions stream, each without its blank line. */
export const COMPAT_RECORDS: readonly string[] = [
  compatChunk('{"role":"assistant","content":""}'),
  compatChunk('{"content":"Grüße, "}'),
  compatChunk('{"content":"世界 🌍"}'),
  compatChunk(
    '{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"add","arguments":""}}]}',
  ),
  compatChunk('{"tool_calls":[{"index":0,"function":{"arguments":"{\\"ä\\":1}"}}]}'),
  compatChunk("{}", '"tool_calls"'),
  `data: {${COMPAT_HEAD},"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`,
  "data: [DONE]",
];

function messagesRecord(type: string, members = ""): string {
  return `event: ${type}\ndata: {"type":"${type}"${members}}`;
}

const MESSAGES_RECORDS: readonly string[] = [
  messagesRecord(
    "message_start",
    ',"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}',
  ),
  messagesRecord("ping"),
  messagesRecord(
    "content_block_start",
    ',"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}',
  ),
  messagesRecord(
    "content_block_delta",
    ',"index":0,"delta":{"type":"thinking_delta","thinking":"Höflich sein."}',
  ),
  messagesRecord(
    "content_block_delta",
    ',"index":0,"delta":{"type":"signature_delta","signature":"c2ln"}',
  ),
  messagesRecord("content_block_stop", ',"index":0'),
  messagesRecord("content_block_start", ',"index":1,"content_block":{"type":"text","text":""}'),
  messagesRecord(
    "content_block_delta",
    ',"index":1,"delta":{"type":"text_delta","text":"Grüße 🌍"}',
  ),
  messagesRecord("content_block_stop", ',"index":1'),
  messagesRecord(
    "content_block_start",
    ',"index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"add","input":{}}',
  ),
  messagesRecord(
    "content_block_delta",
    ',"index":2,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":"}',
  ),
  messagesRecord(
    "content_block_delta",
    ',"index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}',
  ),
  messagesRecord("content_block_stop", ',"index":2'),
  messagesRecord(
    "message_delta",
    ',"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":40}',
  ),
  messagesRecord("message_stop"),
];

const LOCAL_AT = '"model":"m","created_at":"2026-08-01T10:00:00.123456789Z"';

const LOCAL_RECORDS: readonly string[] = [
  `{${LOCAL_AT},"message":{"role":"assistant","content":""},"done":false}`,
  `{${LOCAL_AT},"message":{"role":"assistant","content":"","thinking":"Höflich."},"done":false}`,
  `{${LOCAL_AT},"message":{"role":"assistant","content":"Grüße 🌍"},"done":false}`,
  `{${LOCAL_AT},"message":{"role":"assistant","content":"","tool_calls":[{"id":"call_12345678","function":{"index":0,"name":"add","arguments":{"a":1}}}]},"done":false}`,
  `{${LOCAL_AT},"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":9,"prompt_eval_count":9,"eval_count":30}`,
];

/**
 * One recorded stream for each provider type; all of them have reasoning or a tool call, and usage.
 */
export const RECORDINGS: readonly Recording[] = [
  {
    wire: "compat",
    contentType: "text/event-stream",
    bytes: bytesOf(COMPAT_RECORDS, "\n\n"),
    // The finish chunk is enough for an orderly end; only `[DONE]` says that nothing is missing.
    clean: [
      lengthOf(COMPAT_RECORDS.slice(0, 2), "\n\n"),
      lengthOf(COMPAT_RECORDS.slice(0, 6), "\n\n"),
    ],
    reset: [lengthOf(COMPAT_RECORDS.slice(0, 2), "\n\n"), lengthOf(COMPAT_RECORDS, "\n\n")],
  },
  {
    wire: "messages",
    contentType: "text/event-stream",
    bytes: bytesOf(MESSAGES_RECORDS, "\n\n"),
    clean: [lengthOf(MESSAGES_RECORDS.slice(0, 4), "\n\n"), lengthOf(MESSAGES_RECORDS, "\n\n")],
    reset: [lengthOf(MESSAGES_RECORDS.slice(0, 4), "\n\n"), lengthOf(MESSAGES_RECORDS, "\n\n")],
  },
  {
    wire: "local",
    contentType: "application/x-ndjson",
    bytes: bytesOf(LOCAL_RECORDS, "\n"),
    // An orderly end also ends a line, a break does not.
    clean: [lengthOf(LOCAL_RECORDS.slice(0, 2), "\n") - 1, lengthOf(LOCAL_RECORDS, "\n") - 1],
    reset: [lengthOf(LOCAL_RECORDS.slice(0, 2), "\n"), lengthOf(LOCAL_RECORDS, "\n")],
  },
];
