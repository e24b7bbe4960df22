import type { StreamRecord } from "../../../core/stream/reply.ts";

/** The events with which a generated stream begins. */
export const OPENING_EVENTS: readonly string[] = ["response.created", "response.in_progress"];

const TERMINAL_EVENTS: readonly string[] = [
  "response.completed",
  "response.incomplete",
  "response.failed",
];

/** The numbers of one generated Responses stream, given in the moment in which events are sent. */
export type Numbering = ReturnType<typeof newNumbering>;

/**
 * Returns the numbering of a stream that has not begun. Events are numbered from 0 (Responses API,
 * streaming). Signs of life get numbers between events that the gateway may still hold back, so the
 * encoder cannot number its events itself.
 */
export function newNumbering() {
  let sequence = 0;
  let isEnded = false;
  const opened = new Set<string>();

  function withNumber(record: StreamRecord): StreamRecord {
    const { event, data } = record;
    const at = `{"type":"${event}"`.length;
    const number = `,"sequence_number":${sequence++}`;
    return { ...record, data: data.slice(0, at) + number + data.slice(at) };
  }

  /** False for an event of the opening that was sent before: a stream has one opening. */
  function isNew(event: string): boolean {
    if (!OPENING_EVENTS.includes(event)) return true;
    if (opened.has(event)) return false;
    opened.add(event);
    return true;
  }

  return {
    /** Returns these records of an encoder with their numbers, without an opening that was sent. */
    number(records: readonly StreamRecord[]): readonly StreamRecord[] {
      return records.flatMap((record) => {
        const event = record.event ?? "";
        if (!isNew(event)) return [];
        isEnded ||= TERMINAL_EVENTS.includes(event);
        return [withNumber(record)];
      });
    },
    /** Returns a sign of life with its number; null before the first event, and after the last. */
    sign: (record: () => StreamRecord): StreamRecord | null =>
      sequence === 0 || isEnded ? null : withNumber(record()),
  };
}
