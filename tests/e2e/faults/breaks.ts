import { type ConnectionCause, ConnectionError } from "../../../src/core/connection_error.ts";
import type { Column, Delivery, ProviderType } from "./columns.ts";

/** The phases of a call to an upstream, in their order. */
export const PHASES = [
  "before sending",
  "before the headers",
  "the headers",
  "after the headers",
  "before the first content",
  "within the content",
  "before the end marker",
  "at the end",
] as const;

/** A phase of a call to an upstream. */
export type Phase = typeof PHASES[number];

/** One way for an upstream to break, in one phase. */
export interface Break {
  readonly name: string;
  readonly phase: Phase;
  /** True if the upstream certainly did not begin the work. */
  readonly isUntaken: boolean;
  /** True if the break can happen to answers that are delivered this way. */
  fits(delivery: Delivery): boolean;
  answer(request: BrokenRequest): Promise<Response>;
}

/** A request to an upstream that breaks. */
export interface BrokenRequest {
  readonly column: Column;
  readonly signal: AbortSignal;
  /** Returns what a healthy upstream answers. */
  whole(): Promise<Response>;
  /** Called when the upstream falls silent, so that only time can end the attempt. */
  fallSilent(): void;
}

const encoder = new TextEncoder();
const always = () => true;

function unconnected(name: string, kind: ConnectionCause): Break {
  return {
    name,
    phase: "before sending",
    isUntaken: true,
    fits: always,
    answer: () => Promise.reject(new ConnectionError(kind, "no connection could be made")),
  };
}

function unanswered(name: string, kind: ConnectionCause, isAnswered = false): Break {
  return {
    name,
    phase: "before the headers",
    isUntaken: false,
    fits: always,
    answer: () =>
      Promise.reject(new ConnectionError(kind, "broken", { mayHaveRun: true, isAnswered })),
  };
}

const TIMEOUT: Break = {
  name: "no answer within `timeout`",
  phase: "before the headers",
  isUntaken: false,
  fits: always,
  answer: ({ signal, fallSilent }) => {
    fallSilent();
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  },
};

/** Statuses that say by definition that the request was not taken. */
const UNTAKEN_STATUSES: readonly number[] = [429, 503, 529];

function status(code: number): Break {
  return {
    name: `status ${code}`,
    phase: "the headers",
    isUntaken: UNTAKEN_STATUSES.includes(code),
    fits: always,
    answer(request) {
      const error = [encoder.encode(errorText(request.column.type))];
      const body = code === 204 || code === 302 ? null : bodyOf(error, "close", request);
      const headers = { "content-type": "application/json", location: "/elsewhere" };
      return Promise.resolve(new Response(body, { status: code, headers }));
    },
  };
}

/** Returns an error as a provider of this type writes it. */
function errorText(type: ProviderType): string {
  const error = { type: "api_error", message: "It broke." };
  if (type === "messages") return JSON.stringify({ type: "error", error });
  return JSON.stringify({ error: type === "local" ? error.message : { ...error, code: null } });
}

/** What comes at the place of the break. */
type Breaking = (column: Column, rest: readonly string[]) => {
  readonly texts: readonly (string | Uint8Array<ArrayBuffer>)[];
  readonly end: "close" | "reset" | "silence";
};

const BODY_BREAKS: Readonly<Record<string, Breaking>> = {
  "the body ends": () => ({ texts: [], end: "close" }),
  "the connection is reset": () => ({ texts: [], end: "reset" }),
  "silence": () => ({ texts: [], end: "silence" }),
};

/** Breaks that a stream of records can have; what is sent at the place of the break. */
const RECORD_BREAKS: Readonly<Record<string, Breaking>> = {
  "half a record": (column, [next = record(column, "{}")]) => ({
    texts: [next.slice(0, Math.floor(next.length / 2))],
    end: "close",
  }),
  "a record of invalid JSON": (column, rest) => ({
    texts: [record(column, '{"broken":'), ...rest],
    end: "close",
  }),
  "a record of another type": (column, rest) => ({
    texts: [record(column, "[1]"), ...rest],
    end: "close",
  }),
  "an error event": (column) => ({
    texts: [record(column, eventError(column.type), "error")],
    end: "close",
  }),
};

/** A large record costs much, so it breaks only before and within the content. */
const LARGE_BREAKS: Readonly<Record<string, Breaking>> = {
  "a record of more than 4 MiB": (column, rest) => ({
    texts: [oversize(column), ...rest],
    end: "close",
  }),
};

const LARGE_PHASES: readonly Phase[] = ["before the first content", "within the content"];

function eventError(type: ProviderType): string {
  return type === "native"
    ? JSON.stringify({ type: "error", code: "server_error", message: "It broke.", param: null })
    : errorText(type);
}

/** Returns a record in the framing of the provider. */
function record({ type }: Column, data: string, event = "content_block_delta"): string {
  if (type === "local") return `${data}\n`;
  return type === "messages" ? `event: ${event}\ndata: ${data}\n\n` : `data: ${data}\n\n`;
}

const PADDING = "x".repeat(4 * 1024 * 1024);
const oversized = new Map<string, Uint8Array<ArrayBuffer>>();

function oversize(column: Column): Uint8Array<ArrayBuffer> {
  const known = oversized.get(column.type);
  if (known !== undefined) return known;
  const made = encoder.encode(record(column, JSON.stringify({ type: "ping", padding: PADDING })));
  oversized.set(column.type, made);
  return made;
}

/** A stream has every phase, a whole body only the beginning, the middle and the end. */
function inBody(
  phase: Phase,
  breaks: Readonly<Record<string, Breaking>>,
  fits: Break["fits"],
): readonly Break[] {
  return Object.entries(breaks).map(([name, breaking]) => ({
    name,
    phase,
    isUntaken: false,
    fits,
    async answer(request) {
      const { column, whole } = request;
      const response = await whole();
      const pieces = piecesOf(column, await response.text());
      const count = placeOf(phase, pieces, column);
      const { texts, end } = breaking(column, pieces.slice(count));
      const sent = [...pieces.slice(0, count), ...texts].map((text) =>
        typeof text === "string" ? encoder.encode(text) : text
      );
      const { headers } = response;
      return new Response(bodyOf(sent, end, request), { headers });
    },
  }));
}

/** Divides an answer into its records, or into bytes from the first and the second half. */
function piecesOf(column: Column, text: string): readonly string[] {
  if (isRecords(column.delivery)) {
    const separator = column.type === "local" ? "\n" : "\n\n";
    return text.split(separator).filter((one) => one !== "").map((one) => one + separator);
  }
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function isRecords(delivery: Delivery): boolean {
  return delivery === "stream" || delivery === "WebSocket";
}

/** Returns the number of pieces that come before the break. */
function placeOf(phase: Phase, pieces: readonly string[], { delivery }: Column): number {
  const first = isRecords(delivery) ? pieces.findIndex((piece) => piece.includes("Alpha")) : 0;
  switch (phase) {
    case "before the first content":
      return first;
    case "within the content":
      return first + (isRecords(delivery) ? 3 : 1);
    case "before the end marker":
      return pieces.length - 1;
    case "at the end":
      return pieces.length;
    default:
      return 0;
  }
}

function bodyOf(
  texts: readonly Uint8Array<ArrayBuffer>[],
  end: "close" | "reset" | "silence",
  { signal, fallSilent }: BrokenRequest,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const waiting = [...texts];
  return new ReadableStream({
    type: "bytes",
    start(controller) {
      signal.addEventListener("abort", () => controller.error(signal.reason));
    },
    pull(controller) {
      const next = waiting.shift();
      if (next !== undefined) return controller.enqueue(next.slice());
      if (end === "silence") return fallSilent();
      if (end === "reset") {
        const progress = { mayHaveRun: true, isAnswered: true };
        return controller.error(new ConnectionError("reset", "broken", progress));
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

const isWhole = (delivery: Delivery) => delivery === "JSON";

/** Whole JSON bodies that are no answer. */
function wholeBreak(name: string, textOf: (column: Column, text: string) => string): Break {
  return {
    name,
    phase: "within the content",
    isUntaken: false,
    fits: isWhole,
    async answer(request) {
      const response = await request.whole();
      const text = encoder.encode(textOf(request.column, await response.text()));
      return new Response(bodyOf([text], "close", request), { headers: response.headers });
    },
  };
}

const MIB = encoder.encode(" ".repeat(1024 * 1024));

const OVERSIZE_BODY: Break = {
  name: "a body of more than 64 MiB",
  phase: "within the content",
  isUntaken: false,
  fits: isWhole,
  async answer(request) {
    const pieces = Array.from({ length: 65 }, () => MIB);
    const { headers } = await request.whole();
    return new Response(bodyOf(pieces, "close", request), { headers });
  },
};

const STREAM_PHASES: readonly Phase[] = [
  "after the headers",
  "before the first content",
  "within the content",
  "before the end marker",
  "at the end",
];

/** Phases that a body without records has too. */
const WHOLE_PHASES: readonly Phase[] = ["after the headers", "within the content", "at the end"];

/** Every break of the matrix. */
export const BREAKS: readonly Break[] = [
  unconnected("connection refused", "refused"),
  unconnected("unknown host (DNS)", "dns"),
  unconnected("untrusted certificate (TLS)", "tls_untrusted"),
  unconnected("no TLS", "tls_other"),
  unconnected("no connection within `connect_timeout`", "timeout"),
  unconnected("no route", "unreachable"),
  unanswered("connection reset", "reset"),
  unanswered("connection closed", "closed"),
  unanswered("no valid HTTP", "malformed", true),
  TIMEOUT,
  ...[204, 302, 400, 401, 403, 404, 422, 429, 500, 501, 502, 503, 504, 529].map(status),
  ...STREAM_PHASES.flatMap((phase) => [
    ...inBody(
      phase,
      BODY_BREAKS,
      (delivery) => isRecords(delivery) || WHOLE_PHASES.includes(phase),
    ),
    ...inBody(phase, RECORD_BREAKS, isRecords),
    ...LARGE_PHASES.includes(phase) ? inBody(phase, LARGE_BREAKS, isRecords) : [],
  ]),
  wholeBreak("invalid JSON", (_column, text) => `${text.slice(0, -1)},}`),
  wholeBreak("JSON of another type", () => "[1]"),
  wholeBreak("an error with status 200", ({ type }) => errorText(type)),
  OVERSIZE_BODY,
];
