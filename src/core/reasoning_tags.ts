import type { Codec } from "./codec.ts";
import type { StreamEvent } from "./events.ts";
import type { StreamRecord } from "./reply.ts";
import { type Result, success } from "./result.ts";

const REGION = /<think>([\s\S]*?)<\/think>/g;

/** Content without its complete `<think>` regions, and what stood in them, in order and untrimmed. */
export interface Extracted {
  readonly content: string;
  readonly reasoning: string;
}

/** Takes complete paired `<think>…</think>` regions out of assistant content; null when there is none. */
export function extractReasoning(content: string): Extracted | null {
  if (!content.includes("<think>")) return null;
  const regions = [...content.matchAll(REGION)];
  if (regions.length === 0) return null;
  return {
    content: content.replace(REGION, ""),
    reasoning: regions.map(([, inner = ""]) => inner).join(""),
  };
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
export function extractingDecoder(
  decoder: Codec<StreamRecord, StreamEvent>,
): Codec<StreamRecord, StreamEvent> {
  const extracted = (events: Result<readonly StreamEvent[]>) =>
    events.ok ? success(extractFromEvents(events.value)) : events;
  return {
    push: (record) => extracted(decoder.push(record)),
    end: () => extracted(decoder.end()),
    done: () => decoder.done(),
  };
}
