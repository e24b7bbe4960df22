import type { StreamRecord } from "../core/stream/reply.ts";
import type { Framing } from "./framing.ts";

/**
 * Returns a framing for newline-delimited JSON: one record for each line, without the LF and a CR
 * before it. A blank line is a record with empty data, so that a flood of blank lines is noticed.
 * The end of the source also ends the last line.
 */
export function newNdjsonFraming(): Framing {
  // A list, because a long line may come in very many pieces: each piece is scanned once.
  let kept: string[] = [];
  let held = 0;

  function take(last: string): string {
    if (kept.length === 0) return last;
    const raw = kept.join("") + last;
    kept = [];
    held = 0;
    return raw;
  }

  function push(text: string): readonly StreamRecord[] {
    const records: StreamRecord[] = [];
    let start = 0;
    for (;;) {
      const newline = text.indexOf("\n", start);
      if (newline < 0) break;
      records.push(parseLine(take(text.slice(start, newline + 1))));
      start = newline + 1;
    }
    if (start < text.length) {
      kept.push(text.slice(start));
      held += text.length - start;
    }
    return records;
  }

  function end(): readonly StreamRecord[] {
    const records: StreamRecord[] = [];
    const last = take("");
    if (last !== "") records.push(parseLine(last));
    return records;
  }

  return {
    push,
    end,
    held: () => held,
  };
}

function parseLine(raw: string): StreamRecord {
  let end = raw.length;
  if (raw.endsWith("\n")) end -= raw.endsWith("\r\n") ? 2 : 1;
  const data = raw.slice(0, end);
  return { event: null, data: data.trim() === "" ? "" : data, raw };
}
