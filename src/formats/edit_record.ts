import type { StreamRecord } from "../core/stream/reply.ts";
import { type Edit, splice } from "./edit.ts";

/** A `data` line of the received text of a record. */
interface DataLine {
  readonly value: string;
  /** Position of the value in the data of the record. */
  readonly at: number;
  /** Position of the value in the received text. */
  readonly start: number;
}

/** Lines with text; blank lines have no field. */
const LINES = /[^\r\n]+/g;

/** Name of a `data` field; before the first record of a stream there may be a byte order mark. */
const FIRST_NAME = /^\ufeff?data(?:: ?|$)/, NAME = /^data(?:: ?|$)/;

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

/**
 * Returns null if the text does not have this data, such as a later one that begins with a byte
 * order mark.
 */
function editRaw(raw: string, data: string, edits: readonly Edit[]): string | null {
  const lines = dataLines(raw);
  if (lines.map(({ value }) => value).join("\n") !== data) return null;
  // Edits and lines are in order: a record may have as many of both.
  const ordered = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  let index = 0;
  const position = (at: number) => {
    while (index < lines.length - 1 && at > endOf(lines[index])) index++;
    const line = lines[index];
    return line === undefined ? raw.length : line.start + at - line.at;
  };
  return splice(
    raw,
    ordered.map(({ start, end, text }) => ({ start: position(start), end: position(end), text })),
  );
}

function endOf(line: DataLine | undefined): number {
  return line === undefined ? 0 : line.at + line.value.length;
}

function dataLines(raw: string): readonly DataLine[] {
  const lines: DataLine[] = [];
  let at = 0;
  for (const { 0: line, index } of raw.matchAll(LINES)) {
    const name = (index === 0 ? FIRST_NAME : NAME).exec(line)?.[0];
    if (name === undefined) continue;
    const value = line.slice(name.length);
    lines.push({ value, at, start: index + name.length });
    at += value.length + 1;
  }
  return lines;
}
