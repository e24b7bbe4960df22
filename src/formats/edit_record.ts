import type { StreamRecord } from "../core/stream/reply.ts";
import { type Edit, splice } from "./edit.ts";
import { BYTE_ORDER_MARK, fieldValueStart, isField, LF, position } from "./sse.ts";

/**
 * Returns a record of server-sent events with these edits of its data. Its received text keeps
 * every other byte: other fields, comments and line ends. A value that is replaced may have several
 * lines; the text between them is replaced too.
 */
export function editRecord(record: StreamRecord, edits: readonly Edit[]): StreamRecord {
  const { data, raw } = record;
  return {
    ...record,
    data: splice(data, edits),
    raw: raw === null ? null : editRaw(raw, data, edits),
  };
}

/** Returns null if the text has no positions of the edits (`rawPositions`). */
function editRaw(raw: string, data: string, edits: readonly Edit[]): string | null {
  const ordered = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  const positions = rawPositions(raw, data, ordered.flatMap(({ start, end }) => [start, end]));
  if (positions === null) return null;
  return splice(
    raw,
    ordered.map(({ text }, index) => ({
      start: positions[2 * index] ?? 0,
      end: positions[2 * index + 1] ?? 0,
      text,
    })),
  );
}

/**
 * Returns the positions in the received text of these ascending positions in its data; null if the
 * text has no data lines or other data, or a position is in a line that is only the name. No text
 * is made for a line: a record of 4 MiB may have a million of them.
 */
function rawPositions(raw: string, data: string, ordered: readonly number[]): number[] | null {
  const found: number[] = [];
  /** Position of a line's value in the data. */
  let at = 0;
  let start = raw.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
  let lf = position(raw, "\n", start);
  let cr = position(raw, "\r", start);
  while (start < raw.length) {
    const end = Math.min(lf, cr);
    if (isField(raw, start, end, "data")) {
      const value = fieldValueStart(raw, start + 4, end);
      if (at > 0 && data.charCodeAt(at - 1) !== LF) return null;
      if (value < end && !data.startsWith(raw.slice(value, end), at)) return null;
      const valueEnd = at + end - value;
      for (let next = ordered[found.length]; next !== undefined && next <= valueEnd;) {
        // A text at the end of a line without a colon would be a part of its name.
        if (value === start + 4) return null;
        found.push(value + next - at);
        next = ordered[found.length];
      }
      at = valueEnd + 1;
    }
    start = end + 1;
    if (lf < start) lf = position(raw, "\n", start);
    if (cr < start) cr = position(raw, "\r", start);
  }
  return at > 0 && data.length === at - 1 ? found : null;
}
