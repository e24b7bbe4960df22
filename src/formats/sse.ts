import type { StreamRecord } from "../core/stream/reply.ts";
import { ownText } from "../core/text_beginning.ts";
import type { Framing } from "./framing.ts";

/** Codes of characters between records and lines. */
export const LF = 10, BYTE_ORDER_MARK = 0xfeff;

const SPACE = 32, COLON = 58;

/** Characters of a record for each of its data above which the data is copied out of it. */
const MAX_OTHER_RATIO = 2;

/**
 * Maximum lines of data that wait to be joined. A line of a few characters takes ten times as much
 * memory apart, and also in a text to which lines are added one by one.
 */
const MAX_APART_LINES = 1_024;

/**
 * Returns a framing for server-sent events as the WHATWG standard parses them; `id` and `retry` are
 * ignored. A block without data is a record with empty data, so that the raw texts of all records
 * add up to the received text. Blank lines before a block belong to it. A block that the end of the
 * source cuts off is dropped (WHATWG HTML, "Interpreting an event stream").
 */
export function newSseFraming(): Framing {
  // Lists, because a long record may come in very many pieces: each piece is scanned once.
  let kept: string[] = [];
  let line: string[] = [];
  let held = 0;
  let event: string | null = null;
  /** The first line of data; null if there is none yet. */
  let firstLine: string | null = null;
  /** Further lines of data: whole groups, each joined, and those of the last group. */
  let groups: string[] = [];
  let apart: string[] = [];
  let anyLine = false;
  let begun = false;
  let afterCr = false;
  /** The last line with text ended in a CR without an LF. */
  let crOnly = false;
  /** The block is complete, but an LF that belongs to its last CR may still arrive. */
  let pending = false;

  function readLine(source: string, start: number, end: number) {
    anyLine = true;
    if (isField(source, start, end, "data")) {
      const value = parseFieldValue(source, start + 4, end);
      if (firstLine === null) firstLine = value;
      else addLine(value);
    } else if (isField(source, start, end, "event")) {
      event = parseFieldValue(source, start + 5, end) || null;
    }
  }

  function addLine(value: string) {
    apart.push(value);
    if (apart.length < MAX_APART_LINES) return;
    groups.push(apart.join("\n"));
    apart = [];
  }

  function takeData(): string | null {
    const data = groups.length === 0 && apart.length === 0
      ? firstLine
      : [firstLine, ...groups, ...apart].join("\n");
    firstLine = null;
    if (groups.length > 0) groups = [];
    if (apart.length > 0) apart = [];
    return data;
  }

  function finish(last: string): StreamRecord {
    const data = takeData();
    const raw = kept.length === 0 ? last : kept.join("") + last;
    // The data of a record with very long comments may be kept without them.
    const isMostlyOther = data !== null && raw.length > MAX_OTHER_RATIO * data.length + 1024;
    const record = { event, data: isMostlyOther ? ownText(data ?? "") : data ?? "", raw };
    if (kept.length > 0) kept = [];
    held = 0;
    event = null;
    anyLine = pending = false;
    return record;
  }

  function push(text: string): readonly StreamRecord[] {
    if (text === "") return [];
    const records: StreamRecord[] = [];
    let blockStart = 0;
    let lineStart = 0;
    if (!begun) {
      begun = true;
      if (text.charCodeAt(0) === BYTE_ORDER_MARK) lineStart = 1;
    } else if (afterCr) {
      afterCr = false;
      crOnly = text.charCodeAt(0) !== LF;
      if (!crOnly) lineStart = 1;
      if (pending) {
        records.push(finish(text.slice(0, lineStart)));
        blockStart = lineStart;
      }
    }
    let lf = position(text, "\n", lineStart);
    let cr = position(text, "\r", lineStart);
    while (lf < text.length || cr < text.length) {
      const lineEnd = Math.min(lf, cr);
      const isCr = lineEnd === cr;
      const isCrLf = isCr && text.charCodeAt(cr + 1) === LF;
      const next = lineEnd + (isCrLf ? 2 : 1);
      afterCr = isCr && next === text.length && !isCrLf;
      if (line.length > 0) {
        const whole = line.join("") + text.slice(lineStart, lineEnd);
        line = [];
        readLine(whole, 0, whole.length);
        crOnly = isCr && !isCrLf;
      } else if (lineEnd > lineStart) {
        readLine(text, lineStart, lineEnd);
        crOnly = isCr && !isCrLf;
      } else if (anyLine) {
        // If lines end in CR alone, the record does not wait for an LF; a late LF belongs to the
        // next block.
        const blockEnd = isCr && crOnly ? lineEnd + 1 : next;
        if (afterCr && !crOnly) {
          pending = true;
        } else {
          records.push(finish(text.slice(blockStart, blockEnd)));
          blockStart = blockEnd;
        }
      }
      lineStart = next;
      if (lf < next) lf = position(text, "\n", next);
      if (cr < next) cr = position(text, "\r", next);
    }
    if (blockStart < text.length) {
      kept.push(text.slice(blockStart));
      held += text.length - blockStart;
    }
    if (lineStart < text.length) line.push(text.slice(lineStart));
    return records;
  }

  function end(): readonly StreamRecord[] {
    const records = pending ? [finish("")] : [];
    finish("");
    line = [];
    return records;
  }

  return {
    push,
    end,
    held: () => held,
  };
}

/** Returns the next index of the character; the length of the text if there is none. */
export function position(text: string, character: string, from: number): number {
  const found = text.indexOf(character, from);
  return found < 0 ? text.length : found;
}

/** Returns true if the line between these positions is a field with this name. */
export function isField(source: string, start: number, end: number, name: string): boolean {
  const nameEnd = start + name.length;
  return source.startsWith(name, start) &&
    (nameEnd === end || source.charCodeAt(nameEnd) === COLON);
}

function parseFieldValue(source: string, colon: number, end: number): string {
  const start = fieldValueStart(source, colon, end);
  return start < end ? source.slice(start, end) : "";
}

/**
 * Returns the position of the value of a field. `colon` may also be the end of the line: a name
 * alone is a field with an empty value.
 */
export function fieldValueStart(source: string, colon: number, end: number): number {
  return Math.min(end, colon + (source.charCodeAt(colon + 1) === SPACE ? 2 : 1));
}

/**
 * Returns the text to send: the received text of a record if there is one, else the event as
 * written by `writeRecord`.
 */
export function sseText(records: readonly StreamRecord[]): string {
  let text = "";
  for (const record of records) text += record.raw ?? writeRecord(record);
  return text;
}

function writeRecord({ event, data }: StreamRecord): string {
  const name = event === null ? "" : `event: ${event}\n`;
  const isOneLine = !data.includes("\n") && !data.includes("\r");
  const lines = isOneLine ? data : data.split(/\r\n|\r|\n/).join("\ndata: ");
  return `${name}data: ${lines}\n\n`;
}
