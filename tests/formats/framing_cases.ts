import type { StreamRecord } from "../../src/core/stream/reply.ts";
import type { Framing } from "../../src/formats/framing.ts";

/** All records of a text that arrives in these pieces and then ends. */
export function recordsOf(framing: Framing, texts: readonly string[]): StreamRecord[] {
  const records: StreamRecord[] = [];
  for (const text of texts) records.push(...framing.push(text));
  records.push(...framing.end());
  return records;
}

/** Everything that was received for the records, one after the other. */
export function rawOf(records: readonly StreamRecord[]): string {
  return records.map((record) => record.raw).join("");
}

/** Cuts a text at the given places; places beyond its end are ignored. */
export function cut(text: string, places: readonly number[]): string[] {
  const ordered = [0, ...places.filter((place) => place < text.length), text.length]
    .toSorted((a, b) => a - b);
  return ordered.slice(1).map((end, index) => text.slice(ordered[index], end));
}
