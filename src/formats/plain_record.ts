import type { StreamRecord } from "../core/reply.ts";

const SPACE = 32, BYTE_ORDER_MARK = "\ufeff";

/** What may stand behind a record of one line. */
const RECORD_ENDS = ["\n\n", "\r\n\r\n", "\n\r\n", "\r\n\n"];

/**
 * Returns an event as one `data` line with this JSON text: the record itself, with the bytes received,
 * where it has one such line beside comments. Lines of other fields are left out, and so are line
 * breaks in the data, which in JSON are only white space.
 */
export function plainRecord(record: StreamRecord, json: string = record.data): StreamRecord {
  if (json === record.data && isPlain(record)) return record;
  return { event: null, data: json.includes("\n") ? json.replaceAll("\n", "") : json, raw: null };
}

/** Whether a record is comments alone, with line ends that every client knows. */
export function isComment({ data, raw }: StreamRecord): boolean {
  return data === "" && raw !== null && countDataLines(raw) === 0;
}

function isPlain({ event, data, raw }: StreamRecord): boolean {
  if (raw === null) return event === null && !data.includes("\n");
  const end = (raw.charCodeAt(5) === SPACE ? 6 : 5) + data.length;
  // A block of several lines is longer than all of these.
  if (raw.startsWith("data:") && raw.length - end <= 4 && RECORD_ENDS.includes(raw.slice(end))) {
    return true;
  }
  return event === null && countDataLines(raw) === 1;
}

/** The number of data lines beside comments; null where there is any other line, or a CR ends one alone. */
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
