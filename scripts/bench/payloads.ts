/** The number of text records in a benchmark stream. One record precedes them and some follow. */
export const STREAM_RECORDS = 200;

/** The number of text records in a stream of which only the first byte is measured. */
export const SHORT_STREAM_RECORDS = 16;

const encoder = new TextEncoder();

const WORDS = "the switch yard sorts each train of cars onto its own track and sends it out again";

/** The behaviour of the upstream, selected by the request's model. */
export type UpstreamBehaviour =
  | "json"
  | "json-slow"
  | "sse-1"
  | "sse-8"
  | "sse-short"
  | "sse-slow"
  | "sse-paced";

/** Returns a Chat Completions request of about `size` bytes, with messages of 1 kB. */
export function chatRequest(behaviour: UpstreamBehaviour, size: number): Uint8Array<ArrayBuffer> {
  const isStream = behaviour.startsWith("sse");
  const messages: { role: string; content: string }[] = [];
  for (let left = size - 200; left > 0; left -= 1000) {
    const role = messages.length % 2 === 0 ? "user" : "assistant";
    messages.push({ role, content: prose(Math.min(left, 960)) });
  }
  return encoder.encode(JSON.stringify({
    model: behaviour,
    messages,
    max_tokens: 400,
    ...isStream ? { stream: true, stream_options: { include_usage: true } } : {},
  }));
}

/** Returns a Chat Completions request with a value for which privacy rules send a token. */
export function valueRequest(behaviour: UpstreamBehaviour): Uint8Array<ArrayBuffer> {
  const { messages, ...fields } = JSON.parse(
    new TextDecoder().decode(chatRequest(behaviour, 1000)),
  );
  const asked = { role: "user", content: "Mail bob.miller@example.com." };
  return encoder.encode(JSON.stringify({ ...fields, messages: [...messages, asked] }));
}

/** Returns a streamed Responses request of about `size` bytes with `store: false`. */
export function responsesRequest(size: number): Uint8Array<ArrayBuffer> {
  const fields = { model: "sse-1", stream: true, store: false, max_output_tokens: 400 };
  return encoder.encode(JSON.stringify({ ...fields, input: prose(size - 200) }));
}

/** Returns a Responses request that is not stored, with a history of about `size` bytes. */
export function historyRequest(size: number): Uint8Array<ArrayBuffer> {
  return encodeTurn({ store: false, input: [...history(size), QUESTION] });
}

/** Returns a Responses request that is stored and begins a dialogue of about `size` bytes. */
export function dialogueRequest(size: number): Uint8Array<ArrayBuffer> {
  return encodeTurn({ store: true, input: [...history(size), QUESTION] });
}

/** Returns a Responses request that continues a stored response and is stored itself. */
export function turnRequest(previousId: string): Uint8Array<ArrayBuffer> {
  return encodeTurn({ store: true, previous_response_id: previousId, input: [QUESTION] });
}

const QUESTION = { role: "user", content: prose(200) } as const;

function encodeTurn(fields: Readonly<Record<string, unknown>>): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify({ model: "json", max_output_tokens: 400, ...fields }));
}

/** Returns messages of 1 kB. */
function history(size: number): { readonly role: string; readonly content: string }[] {
  return Array.from({ length: Math.ceil(size / 1000) }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: prose(960),
  }));
}

/** Returns a Messages request of about `size` bytes, with messages of 1 kB. */
export function messagesRequest(
  behaviour: UpstreamBehaviour,
  size: number,
): Uint8Array<ArrayBuffer> {
  const { model, messages } = JSON.parse(new TextDecoder().decode(chatRequest(behaviour, size)));
  const stream = behaviour === "json" ? {} : { stream: true };
  return encoder.encode(JSON.stringify({ model, messages, max_tokens: 400, ...stream }));
}

/** Returns text with a newline after each line, as prompts have. */
function prose(length: number): string {
  return `${WORDS}\n`.repeat(Math.ceil(length / (WORDS.length + 2))).slice(0, length);
}

/**
 * Returns the behaviour that a request selects. Most systems begin a body with the model, so that a
 * long one is not read for it; some write the messages first.
 */
export function parseBehaviour(body: Uint8Array): string {
  return findModel(body.subarray(0, 64)) ?? findModel(body) ?? "";
}

/**
 * Returns the number of text records that the upstream streams to a request; null if it sends a
 * whole response.
 */
export function expectedRecords(request: Uint8Array): number | null {
  switch (parseBehaviour(request)) {
    case "json":
    case "json-slow":
      return null;
    case "sse-short":
    case "sse-slow":
      return SHORT_STREAM_RECORDS;
    default:
      return STREAM_RECORDS;
  }
}

function findModel(body: Uint8Array): string | null {
  return /"model":\s?"([^"]*)"/.exec(new TextDecoder().decode(body))?.[1] ?? null;
}

const COMPLETION_FIELDS = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench" } as const;
const USAGE = { prompt_tokens: 90, completion_tokens: 200, total_tokens: 290 } as const;

/** The text of complete responses. */
export const COMPLETE_TEXT: string = prose(700);

/** A complete Chat Completions response of about 1 kB. */
export const completion: Uint8Array<ArrayBuffer> = encoder.encode(JSON.stringify({
  ...COMPLETION_FIELDS,
  object: "chat.completion",
  choices: [{
    index: 0,
    message: { role: "assistant", content: COMPLETE_TEXT, refusal: null },
    logprobs: null,
    finish_reason: "stop",
  }],
  usage: USAGE,
}));

/** Returns a Chat Completions stream with `count` text records, in chunks of `perPiece` records. */
export function completionStream(count: number, perPiece: number): Uint8Array[] {
  const records = [
    chunk({ role: "assistant", content: "" }, null),
    ...words(count).map((content) => chunk({ content }, null)),
    chunk({}, "stop"),
    `data: ${JSON.stringify({ ...CHUNK_FIELDS, choices: [], usage: USAGE })}\n\n`,
    "data: [DONE]\n\n",
  ];
  return joinRecords(records, perPiece);
}

const CHUNK_FIELDS = { ...COMPLETION_FIELDS, object: "chat.completion.chunk" } as const;

function chunk(delta: Record<string, string>, finish: string | null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...CHUNK_FIELDS, choices, usage: null })}\n\n`;
}

/** The number of pieces of a paced stream, and the text in each before the time of its write. */
export const PACED_PIECE_COUNT = 64, PACED_PIECE_MARK = "sent ";

/** Returns the piece of a paced stream that is written now. */
export function pacedPiece(): Uint8Array {
  const content = `${PACED_PIECE_MARK}${(performance.timeOrigin + performance.now()).toFixed(3)}`;
  return encoder.encode(chunk({ content }, null));
}

/** The end of a paced stream. */
export const pacedEnd: Uint8Array = encoder.encode(`${chunk({}, "stop")}data: [DONE]\n\n`);

/** A complete Messages response of about 1 kB. */
export const message: Uint8Array<ArrayBuffer> = encoder.encode(JSON.stringify({
  id: "msg_bench",
  type: "message",
  role: "assistant",
  model: "bench",
  content: [{ type: "text", text: COMPLETE_TEXT, citations: null }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 90, output_tokens: 200 },
}));

/** Returns a Messages stream with the same text, one record per chunk. */
export function messagesStream(count: number): Uint8Array[] {
  const message = {
    id: "msg_bench",
    type: "message",
    role: "assistant",
    model: "bench",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 90, output_tokens: 1 },
  };
  const delta = { stop_reason: "end_turn", stop_sequence: null };
  return joinRecords([
    event("message_start", { message }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...words(count).map((text) =>
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text } })
    ),
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta, usage: { output_tokens: 200 } }),
    event("message_stop", {}),
  ], 1);
}

function event(type: string, fields: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** Returns the whole text of a stream with `count` text records. */
export function streamText(count: number): string {
  return words(count).join("");
}

function words(count: number): string[] {
  const all = WORDS.split(" ");
  return Array.from({ length: count }, (_, at) => ` ${all[at % all.length] ?? ""}`);
}

function joinRecords(records: readonly string[], perPiece: number): Uint8Array[] {
  const joined: Uint8Array[] = [];
  for (let at = 0; at < records.length; at += perPiece) {
    joined.push(encoder.encode(records.slice(at, at + perPiece).join("")));
  }
  return joined;
}
