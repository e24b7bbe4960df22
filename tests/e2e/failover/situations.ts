import { ConnectionError } from "../../../src/core/failure/connection_error.ts";
import { piecesOf, placeOf, record } from "../faults/bodies.ts";
import type { Column, ProviderType } from "../faults/columns.ts";

/**
 * Result of a call for a client: the whole answer in time (`passed`), or after more than a minute
 * (`late`); or one clear error, also after a part of the answer (`told`).
 */
export type Verdict = "passed" | "late" | "told";

/** A request to one of the three providers of a route. */
export interface SentRequest {
  readonly column: Column;
  readonly host: "first" | "second" | "third";
  /** Number of the request at its host, from 1. */
  readonly number: number;
  readonly signal: AbortSignal;
  /** Returns what a healthy provider answers. */
  healthy(): Promise<Response>;
  pause(ms: number): Promise<void>;
}

/** One way in which providers fail, with what becomes of it. */
export interface Situation {
  readonly name: string;
  /** Verdict with the default settings. */
  readonly seen: Verdict;
  /** Verdicts with other settings, if they differ. */
  readonly with?: Readonly<Record<string, Verdict>>;
  /** Number of calls, one after the other; 1 if absent. */
  readonly calls?: number;
  /** Provider types that can fail so; all if absent. */
  readonly types?: readonly ProviderType[];
  answer(request: SentRequest): Promise<Response>;
}

const CONTEXT = "prompt is too long: 213462 tokens > 200000 maximum";
const FILTERED = "Output blocked by content filtering policy";
const PREFILL = "The conversation must end with a user message.";

function refused(
  { column: { type } }: SentRequest,
  status: number,
  message: string,
  code: string | null = null,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const error = { type: "invalid_request_error", message };
  const body = type === "messages"
    ? { type: "error", error }
    : { error: type === "local" ? message : { ...error, code } };
  return Promise.resolve(
    new Response(new Blob([JSON.stringify(body)]).stream(), {
      status,
      headers: { "content-type": "application/json", ...headers },
    }),
  );
}

/** A part of a body: a text, or milliseconds of silence. */
type Part = string | number;

/** Returns a healthy answer whose body is replaced by these parts. */
async function streamed(
  request: SentRequest,
  parts: (pieces: readonly string[], first: number) => readonly Part[],
  end: "close" | "reset" | "silence",
): Promise<Response> {
  const healthy = await request.healthy();
  const pieces = piecesOf(request.column, await healthy.text());
  // A relayed Messages stream commits with the start of its first block.
  const first = request.column.type === "messages"
    ? pieces.findIndex((piece) => piece.includes("content_block_start"))
    : placeOf("before the first content", pieces, request.column);
  const left = [...parts(pieces, first)];
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    type: "bytes",
    start(controller) {
      request.signal.addEventListener("abort", () => controller.error(request.signal.reason));
    },
    async pull(controller) {
      let next = left.shift();
      while (typeof next === "number") {
        await request.pause(next);
        if (request.signal.aborted) return;
        next = left.shift();
      }
      if (next !== undefined) return controller.enqueue(encoder.encode(next));
      if (end === "silence") return await new Promise(() => {});
      if (end === "close") {
        controller.close();
        return controller.byobRequest?.respond(0);
      }
      const progress = { mayHaveRun: true, isAnswered: true };
      controller.error(new ConnectionError("reset", "broken", progress));
    },
  });
  return new Response(body, healthy);
}

/** Lets the first provider fail each time, or in its first `count` requests. */
function failing(
  fail: (request: SentRequest) => Promise<Response>,
  count = Infinity,
): Situation["answer"] {
  return (request) =>
    request.host === "first" && request.number <= count ? fail(request) : request.healthy();
}

/** A sign of life that is no content, in the framing of each provider type. */
function signOfLife({ column }: SentRequest): string {
  if (column.type === "local") return "\n";
  return column.type === "messages" ? record(column, '{"type":"ping"}', "ping") : ": working\n\n";
}

/** A stream that says before its content that the prompt is too long. */
export const TOO_LONG_WITHIN: Situation = {
  name: "context length within a stream",
  seen: "passed",
  // Native Responses commit with their first event.
  types: ["compat", "messages", "local"],
  answer: failing((one) => {
    const error = { type: "invalid_request_error", message: CONTEXT };
    const data = one.column.type === "local" ? { error: CONTEXT } : { type: "error", error };
    const failed = record(one.column, JSON.stringify(data), "error");
    return streamed(one, (pieces, first) => [...pieces.slice(0, first), failed], "close");
  }),
};

/** The situations of a public comparison of gateways, one row each. */
export const SITUATIONS: readonly Situation[] = [
  {
    name: "429 with Retry-After",
    seen: "passed",
    answer: failing((one) => refused(one, 429, "Slow down.", null, { "retry-after": "1" }), 1),
  },
  {
    name: "429 without Retry-After",
    seen: "passed",
    answer: failing((one) => refused(one, 429, "Slow down."), 1),
  },
  { name: "500 once", seen: "passed", answer: failing((one) => refused(one, 500, "Oh."), 1) },
  { name: "503 forever", seen: "passed", answer: failing((one) => refused(one, 503, "No.")) },
  {
    name: "reset",
    seen: "passed",
    answer: failing(() =>
      Promise.reject(
        new ConnectionError("reset", "broken", { mayHaveRun: true, isAnswered: false }),
      )
    ),
  },
  {
    name: "silence",
    seen: "passed",
    answer: failing(({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      })
    ),
  },
  {
    name: "slow first token, with a role and signs of life before it",
    seen: "late",
    with: { first_content: "passed", all: "passed" },
    // Native Responses commit with their first event.
    types: ["compat", "messages", "local"],
    answer: failing((one) =>
      streamed(one, (pieces, first) => [
        ...pieces.slice(0, first),
        ...Array.from({ length: 9 }, () => [9_000, signOfLife(one)]).flat(),
        ...pieces.slice(first),
      ], "close")
    ),
  },
  {
    name: "cut within the content",
    seen: "told",
    with: { all: "passed" },
    answer: failing((one) => streamed(one, (pieces, first) => pieces.slice(0, first + 3), "reset")),
  },
  {
    name: "stall within the content",
    seen: "told",
    with: { all: "passed" },
    answer: failing((one) =>
      streamed(one, (pieces, first) => pieces.slice(0, first + 3), "silence")
    ),
  },
  {
    name: "malformed chunk within the content",
    seen: "told",
    with: { all: "passed" },
    // Relayed Messages keep their bytes: only their types are read.
    types: ["compat", "local", "native"],
    answer: failing((one) =>
      streamed(one, (pieces, first) => [
        ...pieces.slice(0, first + 3),
        record(one.column, '{"broken'),
        ...pieces.slice(first + 3),
      ], "close")
    ),
  },
  {
    name: "missing [DONE]",
    seen: "passed",
    types: ["compat"],
    answer: failing((one) => streamed(one, (pieces) => pieces.slice(0, -1), "close")),
  },
  {
    name: "context length",
    seen: "passed",
    answer: failing((one) => refused(one, 400, CONTEXT, "context_length_exceeded")),
  },
  {
    name: "content filter",
    seen: "told",
    with: { all: "passed" },
    answer: failing((one) => refused(one, 400, FILTERED, "content_filter")),
  },
  {
    name: "a fallback that refuses an assistant turn at the end",
    seen: "passed",
    answer: (one) =>
      one.host === "first"
        ? refused(one, 503, "No.")
        : one.host === "second"
        ? refused(one, 400, PREFILL)
        : one.healthy(),
  },
  {
    name: "flapping",
    seen: "passed",
    calls: 4,
    answer: (one) =>
      one.host === "first" && one.number % 2 === 1 ? refused(one, 503, "No.") : one.healthy(),
  },
  {
    name: "accounting",
    seen: "passed",
    answer: failing((one) => streamed(one, (pieces, first) => pieces.slice(0, first), "reset"), 1),
    types: ["compat", "messages", "local"],
  },
];
