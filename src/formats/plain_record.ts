import type { StreamRecord } from "../core/stream/reply.ts";

const SPACE = 32, BYTE_ORDER_MARK = "\ufeff";

const LF = 10;

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
 * Returns the number of data lines besides comments; null if the record has any other line, or a
 * line that ends in a CR alone.
 */
function countDataLines(raw: string): number | null {
  if (!raw.endsWith("\n")) return null;
  let count = 0;
  const text = raw.startsWith(BYTE_ORDER_MARK) ? raw.slice(1) : raw;
  for (const ended of text.split("\n")) {
    const line = ended.endsWith("\r") ? ended.slice(0, -1) : ended;
    if (line.includes("\r")) return null;
    if (line.startsWith("data:")) count += 1;
    else if (line !== "" && !line.startsWith(":")) return null;
  }
  return count;
}
