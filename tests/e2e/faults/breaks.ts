import { type ConnectionCause, ConnectionError } from "../../../src/core/connection_error.ts";
import { bodyOf, errorText, eventError, hasRecords, piecesOf, placeOf, record } from "./bodies.ts";
import type { Break, Phase } from "./break.ts";
import type { Column } from "./columns.ts";

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

/** Relayed streams may have larger records, such as images. */
function isGenerated(column: Column): boolean {
  return hasRecords(column) && column.format !== null;
}

const isWhole = ({ delivery }: Column) => delivery === "JSON";

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

/** Returns the whole answer with another content type. */
function contentType(name: string, type: string | null, fits: Break["fits"]): Break {
  return {
    name,
    phase: "the headers",
    isUntaken: false,
    fits,
    async answer(request) {
      const text = encoder.encode(await (await request.whole()).text());
      const headers = type === null ? {} : { "content-type": type };
      return new Response(bodyOf([text], "close", request), { headers });
    },
  };
}

const PAGE = encoder.encode("<!doctype html><title>Sign in</title>");

/** What a proxy or a captive network says in place of the provider. */
const HTML_PAGE: Break = {
  name: "an HTML page with status 200",
  phase: "the headers",
  isUntaken: false,
  // Bytes may be anything.
  fits: ({ delivery }) => delivery !== "bytes",
  answer: (request) =>
    Promise.resolve(
      new Response(bodyOf([PAGE], "close", request), { headers: { "content-type": "text/html" } }),
    ),
};

/** Milliseconds between two pieces of a slow answer: less than `stream_idle_timeout`. */
const TRICKLE_MS = 4_000;

/** Returns an answer whose pieces come slowly, but never as slowly as silence. */
const TRICKLE: Break = {
  name: "one piece each 4 s",
  phase: "after the headers",
  isUntaken: false,
  fits: ({ delivery }) => delivery !== "bytes",
  async answer({ column, whole, signal, pause }) {
    const { headers, text } = await whole().then(async (response) => ({
      headers: response.headers,
      text: await response.text(),
    }));
    const pieces = hasRecords(column)
      ? [...piecesOf(column, text)]
      : text.match(/[^]{1,30}/g) ?? [];
    const body = new ReadableStream({
      type: "bytes",
      start(controller) {
        signal.addEventListener("abort", () => controller.error(signal.reason));
      },
      async pull(controller) {
        await pause(TRICKLE_MS);
        const next = pieces.shift();
        if (signal.aborted) return;
        if (next !== undefined) return controller.enqueue(encoder.encode(next));
        controller.close();
        controller.byobRequest?.respond(0);
      },
    });
    return new Response(body, { headers });
  },
};

const MIB = encoder.encode(" ".repeat(1024 * 1024));

const OVERSIZE_BODY: Break = {
  name: "a body of more than 64 MiB",
  phase: "within the content",
  isUntaken: false,
  // Every whole body is read by the same code; this one costs much.
  fits: ({ call }) => call === "chat JSON",
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
  HTML_PAGE,
  contentType("the answer without a content type", null, always),
  contentType("the answer as `text/plain`", "text/plain", always),
  contentType("the answer as `application/json`", "application/json", hasRecords),
  contentType("the answer as `text/event-stream`", "text/event-stream", isWhole),
  TRICKLE,
  ...STREAM_PHASES.flatMap((phase) => [
    ...inBody(
      phase,
      BODY_BREAKS,
      (column) => hasRecords(column) || WHOLE_PHASES.includes(phase),
    ),
    ...inBody(phase, RECORD_BREAKS, hasRecords),
    ...LARGE_PHASES.includes(phase) ? inBody(phase, LARGE_BREAKS, isGenerated) : [],
  ]),
  wholeBreak("invalid JSON", (_column, text) => `${text.slice(0, -1)},}`),
  wholeBreak("JSON of another type", () => "[1]"),
  wholeBreak("an error with status 200", ({ type }) => errorText(type)),
  OVERSIZE_BODY,
];
