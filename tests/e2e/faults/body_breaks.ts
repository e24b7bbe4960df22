import {
  answerOf,
  type BodyEnd,
  bodyOf,
  eventError,
  hasRecords,
  piecesOf,
  placeOf,
  record,
  sourceOf,
} from "./bodies.ts";
import type { Break, Phase } from "./break.ts";
import type { Column } from "./columns.ts";

const encoder = new TextEncoder();

/** Bytes at the place of the break. */
type Breaking = (column: Column, rest: readonly string[]) => {
  readonly texts: readonly (string | Uint8Array<ArrayBuffer>)[];
  readonly end: BodyEnd;
};

const BODY_BREAKS: Readonly<Record<string, Breaking>> = {
  "the body ends": () => ({ texts: [], end: "close" }),
  "the connection is reset": () => ({ texts: [], end: "reset" }),
  "the connection is closed": () => ({ texts: [], end: "closed" }),
  "a broken chunk or compression": () => ({ texts: [], end: "malformed" }),
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
      return answerOf(bodyOf(sent, end, request), response);
    },
  }));
}

/** Relayed streams may have larger records, such as images. */
function isGenerated(column: Column): boolean {
  return hasRecords(column) && column.format !== null;
}

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
    const body = sourceOf(signal, async () => {
      await pause(TRICKLE_MS);
      signal.throwIfAborted();
      const next = pieces.shift();
      return next === undefined ? null : encoder.encode(next);
    });
    return answerOf(body, { headers });
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

/** The breaks within the body of an answer. */
export const IN_BODY: readonly Break[] = [
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
];
