import type { Decoder } from "../../core/stream/stream.ts";
import type { StreamEvent } from "../../core/stream/events.ts";
import { type Result, success } from "../../core/failure/result.ts";

const OPEN = "<think>", CLOSE = "</think>";

/**
 * Message content without its complete `<think>` regions, and the text of these regions in order,
 * untrimmed.
 */
export interface Extracted {
  readonly content: string;
  readonly reasoning: string;
}

/**
 * Returns assistant content split into text and complete `<think>…</think>` regions; null if there
 * is no region. A region ends at the first closing tag. The search runs forward once for each tag.
 * A regular expression would search the rest of the text again for every opening tag without a
 * closing tag.
 */
export function extractReasoning(content: string): Extracted | null {
  const outside: string[] = [];
  const thought: string[] = [];
  let at = 0;
  for (;;) {
    const open = content.indexOf(OPEN, at);
    const close = open < 0 ? -1 : content.indexOf(CLOSE, open + OPEN.length);
    if (close < 0) break;
    outside.push(content.slice(at, open));
    thought.push(content.slice(open + OPEN.length, close));
    at = close + CLOSE.length;
  }
  if (at === 0) return null;
  outside.push(content.slice(at));
  return { content: outside.join(""), reasoning: thought.join("") };
}

/**
 * Returns the events with complete `<think>` regions of text events changed to reasoning events.
 */
export function extractFromEvents(events: readonly StreamEvent[]): readonly StreamEvent[] {
  return events.flatMap((event): StreamEvent[] => {
    const extracted = event.type === "text" ? extractReasoning(event.delta) : null;
    return extracted === null ? [event] : [
      { type: "reasoning", delta: extracted.reasoning },
      { ...event, type: "text", delta: extracted.content },
    ];
  });
}

/** Returns a decoder that applies `extractFromEvents` to the events of each record. */
export function newExtractingDecoder(decoder: Decoder): Decoder {
  const extracted = (events: Result<readonly StreamEvent[]>) =>
    events.ok ? success(extractFromEvents(events.value)) : events;
  return {
    push: (record) => extracted(decoder.push(record)),
    end: () => extracted(decoder.end()),
    done: () => decoder.done(),
    usage: () => decoder.usage(),
    ...decoder.heldBytes !== undefined && { heldBytes: decoder.heldBytes },
  };
}
