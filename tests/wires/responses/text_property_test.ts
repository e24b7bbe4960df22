import fc from "fast-check";
import type { StreamEvent } from "../../../src/core/stream/events.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { textPieces } from "../../support/pieces.ts";
import { valueOf } from "../../support/translated.ts";
import { decodeStream, decodeText, streamOf } from "./encoded_request.ts";
import { LABELS } from "./events.ts";

const texts = fc.string({ unit: "grapheme", maxLength: 12 });

/** Output items of a model. Their IDs are added later. */
const item = fc.oneof(
  fc.record({ kind: fc.constant("message" as const), texts: fc.array(texts, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant("reasoning" as const), texts: fc.array(texts, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant("call" as const), texts: fc.tuple(texts) }),
  fc.record({ kind: fc.constant("custom" as const), texts: fc.tuple(texts) }),
);
type Item = typeof item extends fc.Arbitrary<infer T> ? T : never;

/** How much of an item is streamed before its complete item event. */
const plan = fc.record({ size: fc.integer({ min: 1, max: 5 }), streamed: fc.nat({ max: 6 }) });

/** Returns one token for each code unit, so that deltas are split at every position. */
function tokensOf(text: string): JsonObject[] {
  return text.split("").map((token) => ({ token, logprob: -1, bytes: null, top_logprobs: [] }));
}

function partOf(kind: Item["kind"], text: string): JsonObject {
  return kind === "message"
    ? { type: "output_text", text, annotations: [], logprobs: tokensOf(text) }
    : { type: "reasoning_text", text };
}

function itemOf({ kind, texts: [first = "", ...rest] }: Item, index: number): JsonObject {
  if (kind === "call") {
    const called = { call_id: `c${index}`, name: "f", arguments: first };
    return { type: "function_call", id: `fc_${index}`, ...called };
  }
  if (kind === "custom") {
    return { type: "custom_tool_call", call_id: `c${index}`, name: "g", input: first };
  }
  const content = [first, ...rest].map((text) => partOf(kind, text));
  return kind === "message"
    ? { type: "message", id: `m${index}`, role: "assistant", content }
    : { type: "reasoning", id: `r${index}`, summary: [], content };
}

const DELTAS = {
  message: "response.output_text.delta",
  reasoning: "response.reasoning_text.delta",
  call: "response.function_call_arguments.delta",
  custom: "response.custom_tool_call_input.delta",
};

function eventsOf(made: Item, output_index: number, size: number, streamed: number): JsonObject[] {
  const whole = itemOf(made, output_index);
  const pieces = made.texts.flatMap((text, content_index) =>
    textPieces(text, size).map((delta) => ({
      type: DELTAS[made.kind],
      output_index,
      content_index,
      delta,
      ...made.kind === "message" && { logprobs: tokensOf(delta) },
    }))
  );
  return [
    { type: "response.output_item.added", output_index, item: { ...whole, content: [] } },
    ...pieces.slice(0, streamed),
    { type: "response.output_item.done", output_index, item: whole },
  ];
}

/** Returns the content of events, with adjacent deltas of one kind concatenated. */
function joined(events: readonly StreamEvent[]): readonly unknown[] {
  const texts = { text: "", refusal: "", reasoning: "" };
  const calls = new Map<number, string>();
  const others: unknown[] = [];
  const tokens: unknown[] = [];
  for (const event of events) {
    if (event.type === "text") tokens.push(...event.logprobs ?? []);
    if (event.type === "text" || event.type === "refusal" || event.type === "reasoning") {
      texts[event.type] += event.delta;
    } else if (event.type === "tool_arguments") {
      calls.set(event.index, (calls.get(event.index) ?? "") + event.delta);
    } else others.push(event);
  }
  return [texts, [...calls], tokens, others];
}

Deno.test("a stream has the content of the complete response, however it is split", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(item, plan), { maxLength: 5 }), fc.boolean(), (list, repeats) => {
      const output = list.map(([made], index) => itemOf(made, index));
      const response = { ...LABELS, status: "completed", output };
      const events = [
        { type: "response.created", response: { ...response, output: [], status: "in_progress" } },
        ...list.flatMap(([made, { size, streamed }], index) =>
          eventsOf(made, index, size, streamed)
        ),
        { type: "response.completed", response: repeats ? response : { ...response, output: [] } },
      ];
      const streamed = valueOf(decodeStream(streamOf(events)));
      assertEquals(joined(streamed), joined(valueOf(decodeText(JSON.stringify(response)))));
    }),
  );
});

Deno.test("text and tool arguments are decoded unchanged", () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 5 }), (list) => {
      const output = list.map(itemOf);
      const response = { ...LABELS, status: "completed", output };
      const [decoded, calls, tokens] = joined(valueOf(decodeText(JSON.stringify(response))));
      const of = (kind: Item["kind"]) => list.filter((made) => made.kind === kind);
      const spoken = (kind: Item["kind"]) => of(kind).flatMap((made) => made.texts).join("");
      assertEquals<unknown>(decoded, {
        text: spoken("message"),
        refusal: "",
        reasoning: spoken("reasoning"),
      });
      assertEquals<unknown>(tokens, tokensOf(spoken("message")));
      const argued = list.filter(({ kind }) => kind === "call" || kind === "custom")
        .map(({ texts: [text] }, index) => [index, text]);
      assertEquals<unknown>(calls, argued.filter(([, text]) => text !== ""));
    }),
  );
});
