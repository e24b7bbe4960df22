import type { StreamRecord } from "../core/reply.ts";
import type { Framing } from "./framing.ts";

/**
 * Cuts newline-delimited JSON: one record a line, blank lines are skipped, a CR before the LF is no
 * part of the data. The end of the source also ends the last line.
 */
export function ndjsonFraming(): Framing {
  // A list, because a long line may come in very many pieces: each is looked at once.
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
      addRecord(records, take(text.slice(start, newline + 1)));
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
    addRecord(records, take(""));
    return records;
  }

  return {
    push,
    end,
    held: () => held,
  };
}

function addRecord(records: StreamRecord[], raw: string): void {
  let end = raw.length;
  if (raw.endsWith("\n")) end -= raw.endsWith("\r\n") ? 2 : 1;
  const data = raw.slice(0, end);
  if (data.trim() !== "") records.push({ event: null, data, raw });
}
