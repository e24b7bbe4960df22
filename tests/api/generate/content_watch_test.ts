import { newContentWatch } from "../../../src/api/generate/content_watch.ts";
import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { assertEquals } from "../../support/assert.ts";

const START: StreamEvent = { type: "start", id: "a", model: "m", created: 1 };
const FILTERED: StreamEvent = { type: "finish", reason: "content_filter" };

function seen(...events: readonly StreamEvent[]): readonly boolean[] {
  const watch = newContentWatch();
  for (const event of events) watch.push(event);
  return [watch.hasContent(), watch.isFiltered()];
}

Deno.test("text, reasoning, calls and an end are content; a start, empty text and counts are none", () => {
  assertEquals(seen(), [false, false]);
  assertEquals(seen(START, { type: "text", delta: "" }), [false, false]);
  const usage = { input: 1, output: 0, total: 1, cached: 0, cacheWrite: 0, reasoning: 0 };
  assertEquals(seen(START, { type: "usage", usage }), [false, false]);
  assertEquals(seen(START, { type: "reasoning_item", value: {} }), [false, false]);
  const contents: readonly StreamEvent[] = [
    { type: "text", delta: "a" },
    { type: "reasoning", delta: "a" },
    { type: "refusal", delta: "No." },
    { type: "thinking_block", value: {} },
    { type: "tool_call", index: 0, id: "a", name: "f" },
    { type: "finish", reason: "stop" },
  ];
  for (const event of contents) assertEquals(seen(START, event), [true, false], event.type);
});

Deno.test("a filter that ends a response before its content is recognised, also if it explains itself", () => {
  assertEquals(seen(START, FILTERED), [true, true]);
  assertEquals(seen(START, { type: "refusal", delta: "No." }, FILTERED), [true, true]);
  assertEquals(seen(START, { type: "text", delta: "a" }, FILTERED), [true, false]);
});
