import fc from "fast-check";
import type { FinishReason, StreamEvent } from "../../../src/core/stream/events.ts";
import { isObject, type JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { encoded, finish } from "./encoded.ts";
import { cited, more, reasoning, refusal, signed, text } from "./event_cases.ts";

const PIECES = fc.constantFrom("", "a", " ", "{", "}", '{"a":1}', '"', "\n", "é");

/** A step of a model: text, or a piece of one of four calls, which it may begin. */
const STEPS = fc.array(
  fc.oneof(
    PIECES.map(text),
    PIECES.map(refusal),
    PIECES.map(reasoning),
    PIECES.map(signed),
    fc.tuple(fc.nat(9), fc.nat(9)).map(([from, to]) => cited(from, to)),
    fc.tuple(fc.nat(3), PIECES).map(([index, delta]) => more(index, delta)),
  ),
  { maxLength: 40 },
);
const REASONS = fc.constantFrom<FinishReason>("stop", "length", "tool_calls", "content_filter");

/** The steps as a decoder gives them: calls are begun before they are added to, and end once. */
function spoken(steps: readonly StreamEvent[]): readonly StreamEvent[] {
  const begun = new Set<number>();
  return steps.flatMap((event): StreamEvent[] => {
    if (event.type !== "tool_arguments") return [event];
    const { index } = event;
    if (begun.has(index)) return [];
    begun.add(index);
    return [{ type: "tool_call", index, id: `call_${index}`, name: `f${index}` }, event];
  });
}

/** The order in which the events of a stream may come, as a pattern over their short names. */
const TEXT = "(part\\+ (text )*(note )*(text |note )*text\\. part\\. )";
const REFUSAL = "(part\\+ (refusal )*refusal\\. part\\. )";
const THOUGHT = "(part\\+ (thought )*thought\\. part\\. )";
const LEGAL = new RegExp(
  `^created in_progress (item\\+ ((${TEXT}|${REFUSAL})*|${THOUGHT}*|(args )*args\\. )item\\. )*` +
    "(completed|incomplete) $",
);
const SHORT: Readonly<Record<string, string>> = {
  "output_item.added": "item+",
  "output_item.done": "item.",
  "content_part.added": "part+",
  "content_part.done": "part.",
  "output_text.delta": "text",
  "output_text.done": "text.",
  "output_text.annotation.added": "note",
  "refusal.delta": "refusal",
  "refusal.done": "refusal.",
  "reasoning_text.delta": "thought",
  "reasoning_text.done": "thought.",
  "function_call_arguments.delta": "args",
  "function_call_arguments.done": "args.",
};

function shortName({ type }: JsonObject): string {
  const name = String(type).replace("response.", "");
  return `${SHORT[name] ?? name} `;
}

/** Returns the sums of the deltas of each part and call, and the values in their last events. */
function sumsOf(events: readonly JsonObject[]) {
  const [added, finished] = [new Map<string, string>(), new Map<string, unknown>()];
  for (const event of events) {
    const place = `${event.item_id} ${event.content_index ?? 0}`;
    const whole = event.text ?? event.refusal ?? event.arguments;
    if (typeof event.delta === "string") added.set(place, (added.get(place) ?? "") + event.delta);
    if (whole !== undefined) finished.set(place, whole);
  }
  for (const place of finished.keys()) if (!added.has(place)) added.set(place, "");
  return { added: [...added].toSorted(), finished: [...finished].toSorted() };
}

Deno.test("any model output gives events in legal order, whose sum is the terminal Response object", () => {
  fc.assert(fc.property(STEPS, REASONS, (steps, reason) => {
    const events = encoded([...spoken(steps), finish(reason)]);
    assert(LEGAL.test(events.map(shortName).join("")), events.map(shortName).join(""));
    const { added, finished } = sumsOf(events);
    assertEquals<unknown>(added, finished);
    assertSameItems(events);
  }));
});

/** Ids, places and values are the same in the stream and in the resource. */
function assertSameItems(events: readonly JsonObject[]): void {
  const response = events.at(-1)?.response;
  assert(isObject(response) && Array.isArray(response.output));
  const items = (type: string) => events.filter((event) => event.type === type);
  const done = items("response.output_item.done");
  assertEquals<unknown>(done.map(({ item }) => item), response.output);
  assertEquals<unknown>(done.map(({ output_index }) => output_index), [...done.keys()]);
  assertEquals(
    items("response.output_item.added").map(({ item }) => isObject(item) ? item.id : null),
    response.output.map((item) => isObject(item) ? item.id : undefined),
  );
  const ids = new Set(response.output.map((item) => isObject(item) ? item.id : undefined));
  assertEquals(ids.size, response.output.length);
  for (const { item_id } of events) assert(item_id === undefined || ids.has(item_id));
}

Deno.test("all model output is delivered, and tool calls keep their order", () => {
  fc.assert(fc.property(STEPS, (steps) => {
    const expected = spoken(steps);
    const events = encoded([...expected, finish()]);
    const pieces = (type: string) =>
      expected.flatMap((event) => event.type === type && "delta" in event ? [event.delta] : [])
        .join(
          "",
        );
    const deltas = (type: string) =>
      events.flatMap((event) => event.type === type ? [event.delta] : []).join("");
    assertEquals(deltas("response.output_text.delta"), pieces("text"));
    assertEquals(deltas("response.refusal.delta"), pieces("refusal"));
    assertEquals(deltas("response.reasoning_text.delta"), pieces("reasoning"));
    assertEquals(deltas("response.function_call_arguments.delta"), pieces("tool_arguments"));
  }));
});
