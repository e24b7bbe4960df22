import type { StreamRecord } from "../core/stream/reply.ts";
import { BYTE_ORDER_MARK, LF } from "./sse.ts";

const CR = 13, SPACE = 32, COLON = 58;

/** Line ends that may follow the data of a one-line record, besides the shortest. */
const RECORD_ENDS = ["\r\n\r\n", "\n\r\n", "\r\n\n"];

/**
 * Returns an event as one `data` line with this JSON text. A record that already has exactly one
 * such line besides comments is returned itself, with its received bytes. Other fields are left
 * out, and so are line breaks in the data, which in JSON are only white space.
 */
export function plainRecord(record: StreamRecord, json: string = record.data): StreamRecord {
  if (json === record.data && isPlain(record)) return record;
  return { event: null, data: json.includes("\n") ? json.replaceAll("\n", "") : json, raw: null };
}

/** True if a record holds only comments, with line ends that every client parses. */
export function isComment({ data, raw }: StreamRecord): boolean {
  return data === "" && raw !== null && countDataLines(raw) === 0;
}

function isPlain({ event, data, raw }: StreamRecord): boolean {
  if (raw === null) return event === null && !data.includes("\n");
  const end = (raw.charCodeAt(5) === SPACE ? 6 : 5) + data.length;
  if (raw.startsWith("data:")) {
    // Nearly every record ends so: no text is made for it.
    const isShortest = raw.length === end + 2 && raw.charCodeAt(end) === LF;
    if (isShortest && raw.charCodeAt(end + 1) === LF) return true;
    // Records of several lines have more characters after `end`.
    if (raw.length - end <= 4 && RECORD_ENDS.includes(raw.slice(end))) return true;
  }
  return event === null && countDataLines(raw) === 1;
}

/**
 * Returns the number of data lines besides comments, 2 for any larger number; null if a line
 * before the second data line is any other one, or ends in a CR alone. No text is made for a line:
 * a record of 4 MiB may have a million of them.
 */
function countDataLines(raw: string): number | null {
  if (!raw.endsWith("\n")) return null;
  let count = 0;
  let start = raw.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
  let cr = raw.indexOf("\r", start);
  while (start < raw.length) {
    const lf = raw.indexOf("\n", start);
    if (cr >= 0 && cr < lf) {
      if (cr !== lf - 1) return null;
      cr = raw.indexOf("\r", lf);
    }
    if (raw.startsWith("data:", start)) count += 1;
    else if (!isBlankOrComment(raw.charCodeAt(start))) return null;
    if (count === 2) return count;
    start = lf + 1;
  }
  return count;
}

function isBlankOrComment(first: number): boolean {
  return first === LF || first === CR || first === COLON;
}
