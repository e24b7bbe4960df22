import type { StreamEvent } from "../../../src/core/stream/events.ts";
import {
  type CallingReasoning,
  newReasoningCollector,
} from "../../../src/core/stream/reasoning.ts";
import { assertEquals } from "../../support/assert.ts";

const BLOCK = { type: "thinking", thinking: "hm", signature: "s" };
const ITEM = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" };

function thinking(delta: string): StreamEvent {
  return { type: "reasoning", delta };
}

function call(index: number): StreamEvent {
  return { type: "tool_call", index, id: `call_${index}`, name: "f" };
}

function collected(...events: readonly StreamEvent[]): CallingReasoning | null {
  const collector = newReasoningCollector();
  for (const event of events) collector.push(event);
  return collector.value();
}

Deno.test("the reasoning of a response is its whole text, its calls, and its blocks at their places", () => {
  assertEquals(
    collected(
      { type: "start", id: "x", model: "m", created: 1 },
      thinking("h"),
      thinking("m"),
      { type: "thinking_block", value: BLOCK },
      { type: "text", delta: "So" },
      call(0),
      { type: "tool_arguments", index: 0, delta: "{}" },
      { type: "reasoning_item", value: ITEM },
      call(1),
      { type: "finish", reason: "tool_calls" },
    ),
    {
      text: "hm",
      callIds: ["call_0", "call_1"],
      blocks: [{ value: BLOCK, callsBefore: 0 }, { value: ITEM, callsBefore: 1, textBefore: 2 }],
    },
  );
});

Deno.test("a response without tool calls or without sealed blocks has no reasoning to store", () => {
  const block: StreamEvent = { type: "thinking_block", value: BLOCK };
  assertEquals(collected(), null);
  assertEquals(collected(thinking("hm"), block), null);
  assertEquals(collected(thinking("hm"), call(0)), null);
  assertEquals(collected(block, call(0))?.text, "");
});

Deno.test("a response with more than 4 MiB of reasoning has no reasoning to store", () => {
  const block: StreamEvent = { type: "thinking_block", value: BLOCK };
  const left = 4 * 1024 * 1024 - JSON.stringify(BLOCK).length;
  const fits = "x".repeat(left);
  assertEquals(collected(thinking(fits), block, call(0))?.text.length, left);
  assertEquals(collected(thinking(fits), thinking("x"), block, call(0)), null);
  assertEquals(collected(block, block, thinking(fits), call(0)), null);
});
