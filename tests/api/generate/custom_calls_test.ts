import { newCustomCallStage } from "../../../src/api/generate/custom_calls.ts";
import { messageOf } from "../../../src/core/failure/openai_error.ts";
import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { passStage } from "../../../src/wires/verified/verifier.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const FINISH: StreamEvent = { type: "finish", reason: "tool_calls" };

function call(index: number, name: string, text?: string): StreamEvent {
  const whole = text !== undefined && { arguments: text };
  return { type: "tool_call", index, id: `c${index}`, name, ...whole };
}

function custom(index: number, text?: string): StreamEvent {
  const whole = text !== undefined && { arguments: text };
  return { type: "tool_call", index, id: `c${index}`, name: "run", ...whole, kind: "custom" };
}

function more(index: number, delta: string, isLast?: true): StreamEvent {
  return { type: "tool_arguments", index, delta, ...isLast && { isLast } };
}

function passed(events: readonly StreamEvent[]): readonly StreamEvent[] {
  const result = passStage(events, newCustomCallStage(new Set(["run"]), () => {}));
  assert(result.ok);
  return result.value;
}

Deno.test("calls of bridged functions become calls of custom tools, all other events are unchanged", () => {
  assertEquals(
    passed([
      { type: "text", delta: "a" },
      call(0, "run"),
      call(1, "add", "{}"),
      more(0, '{"input":"b'),
      call(2, "run", '{"input":"whole"}'),
      more(1, '{"input":"x"}'),
      more(0, "\\"),
      more(0, 'n"'),
      more(0, "}"),
      FINISH,
    ]),
    [
      { type: "text", delta: "a" },
      custom(0),
      call(1, "add", "{}"),
      more(0, "b"),
      custom(2, "whole"),
      more(1, '{"input":"x"}'),
      more(0, "\n", true),
      FINISH,
    ],
  );
});

Deno.test("an input that is held is delivered before the finish, in the order of the calls", () => {
  assertEquals(
    passed([call(0, "run"), call(1, "run"), more(1, "two"), more(0, '"on'), more(0, 'e"'), FINISH]),
    [custom(0), custom(1), more(0, "one"), more(1, "two"), FINISH],
  );
});

Deno.test("a call without arguments has an empty input", () => {
  assertEquals(passed([call(0, "run"), FINISH]), [custom(0), FINISH]);
  assertEquals(passed([call(0, "run", ""), FINISH]), [custom(0, ""), FINISH]);
});

Deno.test("arguments that are held back are counted, and are at most 16 MiB", () => {
  const stage = newCustomCallStage(new Set(["run"]), () => {});
  assert(stage.push(call(0, "run")).ok);
  assert(stage.push(more(0, "x".repeat(1000))).ok);
  assert(stage.heldBytes() >= 1000 && stage.heldBytes() < 1200);
  const large = stage.push(more(0, "x".repeat(16 * 1024 * 1024)));
  assert(!large.ok && messageOf(large.failure).includes("more than can be held back"));
});

Deno.test("each call of a bridged function is counted", () => {
  let count = 0;
  const stage = newCustomCallStage(new Set(["run"]), () => void (count += 1));
  for (const event of [call(0, "run"), call(1, "add"), call(2, "run", "{}"), FINISH]) {
    assert(stage.push(event).ok);
  }
  assertEquals(count, 2);
});
