import type { Decoder } from "./codec.ts";
import type { StreamEvent } from "./events.ts";
import { type Result, success } from "./result.ts";

const OPEN = "<think>", CLOSE = "</think>";

/** Content without its complete `<think>` regions, and what stood in them, in order and untrimmed. */
export interface Extracted {
  readonly content: string;
  readonly reasoning: string;
}

/**
 * Takes complete paired `<think>…</think>` regions out of assistant content; null when there is none.
 * A region ends at the first closing tag. One search forward for each tag: a regular expression would
 * look through the rest of the text again for every opening tag without a closing one.
 */
export function extractReasoning(content: string): Extracted | null {
  const said: string[] = [];
  const thought: string[] = [];
  let at = 0;
  for (;;) {
    const open = content.indexOf(OPEN, at);
    const close = open < 0 ? -1 : content.indexOf(CLOSE, open + OPEN.length);
    if (close < 0) break;
    said.push(content.slice(at, open));
    thought.push(content.slice(open + OPEN.length, close));
    at = close + CLOSE.length;
  }
  if (at === 0) return null;
  said.push(content.slice(at));
  return { content: said.join(""), reasoning: thought.join("") };
}

/** Events in which complete `<think>` regions of a text have become reasoning. */
export function extractFromEvents(events: readonly StreamEvent[]): readonly StreamEvent[] {
  return events.flatMap((event): StreamEvent[] => {
    const extracted = event.type === "text" ? extractReasoning(event.delta) : null;
    return extracted === null ? [event] : [
      { type: "reasoning", delta: extracted.reasoning },
      { ...event, type: "text", delta: extracted.content },
    ];
  });
}

/** A decoder whose events have been through `extractFromEvents`, record by record. */
export function newExtractingDecoder(decoder: Decoder): Decoder {
  const extracted = (events: Result<readonly StreamEvent[]>) =>
    events.ok ? success(extractFromEvents(events.value)) : events;
  return {
    push: (record) => extracted(decoder.push(record)),
    end: () => extracted(decoder.end()),
    done: () => decoder.done(),
    usage: () => decoder.usage(),
  };
}
