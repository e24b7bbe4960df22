import fc from "fast-check";
import { encodeResponse } from "../../../src/api/responses/generate/encoder.ts";
import {
  parseThinking,
  reasoningTextBlock,
  sealThinking,
} from "../../../src/api/reasoning/sealed_thinking.ts";
import { sealedText } from "../../../src/core/stream/sealed_text.ts";
import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { isRefusal } from "../../../src/core/failure/failure.ts";
import { isObject, type JsonObject } from "../../../src/core/json/json.ts";
import type { WireName } from "../../../src/wires/wire.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { valueOf } from "../../support/translated.ts";
import { call, finish, labelsOf } from "./encoded.ts";
import { reasoning, signed, text } from "./event_cases.ts";
import { messagesOf, translate, type Translated } from "./translated.ts";

const USER: JsonObject = { role: "user", content: "q" };
const TURN: JsonObject = { role: "assistant", content: "a" };
const BLOCK: JsonObject = { type: "thinking", thinking: "A", signature: "s" };

function openThinking(sealed: string): readonly JsonObject[] | null {
  const opened = sealedText(sealed);
  return opened === null ? null : parseThinking(opened);
}

function thought(given: string, sealed: readonly JsonObject[] = []): JsonObject {
  return {
    type: "reasoning",
    summary: [],
    content: [{ type: "reasoning_text", text: given }],
    ...sealed.length > 0 && { encrypted_content: sealThinking(sealed) },
  };
}

/** The members of the assistant's message that come from reasoning. */
function reasoningOf(items: JsonObject[], wire: WireName): readonly unknown[] {
  return sentReasoning(valueOf(translate({ input: items }, wire)));
}

function sentReasoning({ prompt: { messages } }: Translated): readonly unknown[] {
  return messages.flatMap((message) => {
    if (message.kind !== "assistant") return [];
    const { reasoning, thinking } = message;
    const blocks = thinking.length === 0 ? undefined : thinking.map(({ value }) => value);
    return [reasoning?.value ?? blocks];
  });
}

Deno.test("reasoning is sent as text with the next assistant message", () => {
  for (const wire of ["compat", "local", "messages"] as const) {
    assertEquals(reasoningOf([USER, thought(" A "), thought("B"), TURN], wire), [" A B"]);
  }
});

Deno.test("with the context current_turn only the reasoning after the last message of the user is sent as text", () => {
  const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
  const result = { type: "function_call_output", call_id: "c", output: "ok" };
  const input = [USER, thought("A"), TURN, USER, thought("B"), call, result];
  for (const wire of ["compat", "local"] as const) {
    for (const [context, texts] of [["current_turn", ["B"]], ["all_turns", ["A", "B"]]] as const) {
      const chat = translate({ input, reasoning: { context } }, wire);
      assert(chat.ok);
      assertEquals(chat.value.lossy, []);
      const sent = sentReasoning(chat.value).filter((text) => text !== undefined);
      assertEquals<unknown>(sent, texts);
    }
  }
});

Deno.test("a summary replaces reasoning without content", () => {
  const summary = [{ type: "summary_text", text: "in " }, { type: "summary_text", text: "short" }];
  assertEquals(reasoningOf([{ type: "reasoning", summary }, TURN], "compat"), ["in short"]);
});

Deno.test("signed thinking is sent as blocks to wires that check signatures, and as text to other wires", () => {
  const other = { type: "redacted_thinking", data: "x" };
  const items = [USER, thought("A", [BLOCK]), thought("", [other]), TURN];
  assertEquals<unknown>(reasoningOf(items, "messages"), [[BLOCK, other]]);
  assertEquals(reasoningOf(items, "compat"), ["A"]);
  assertEquals(reasoningOf(items, "local"), ["A"]);
});

Deno.test("the text in encrypted content is used if a client sends no other text", () => {
  const bare = (...sealed: JsonObject[]) => ({ ...thought("", sealed), content: [] });
  for (const wire of ["compat", "local", "messages"] as const) {
    const items = [USER, bare(reasoningTextBlock(" A ")), bare(reasoningTextBlock("B")), TURN];
    assertEquals(reasoningOf(items, wire), [" A B"]);
  }
  const visible = [USER, thought("seen", [reasoningTextBlock("sealed")]), TURN];
  assertEquals(reasoningOf(visible, "compat"), ["seen"]);
  assertEquals(reasoningOf([USER, bare(BLOCK), TURN], "compat"), ["A"]);
  assertEquals<unknown>(reasoningOf([USER, bare(BLOCK), TURN], "messages"), [[BLOCK]]);
});

Deno.test("an item that was generated without signatures carries its text in encrypted content", () => {
  const events = [reasoning("A "), reasoning("b"), text("a"), finish()];
  const sealedOf = (isSigned: boolean) => {
    const answer = encodeResponse(events, { ...labelsOf(), isSigned });
    assert(answer.ok && Array.isArray(answer.value.resource.output));
    const [item] = answer.value.resource.output.filter(isObject);
    return item?.encrypted_content;
  };
  const sealed = sealedOf(false);
  assert(typeof sealed === "string");
  assertEquals(openThinking(sealed), [reasoningTextBlock("A b")]);
  assertEquals(sealedOf(true), undefined);
});

Deno.test("reasoning before a tool call is sent in the message of the call", () => {
  const called = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
  const answered = { type: "function_call_output", call_id: "c", output: "" };
  const again = { ...called, call_id: "d" };
  const items = [thought("A"), called, thought("B"), again, answered, {
    ...answered,
    call_id: "d",
  }];
  assertEquals(reasoningOf(items, "compat"), ["A", "B"]);
});

Deno.test("reasoning without a following assistant message and empty reasoning items are not sent", () => {
  for (
    const items of [[TURN, thought("A"), USER], [TURN, USER, thought("A")], [thought(""), TURN]]
  ) {
    assertEquals(reasoningOf(items, "compat"), [undefined]);
  }
});

Deno.test("sealed thinking blocks are decoded unchanged, whatever their content", () => {
  fc.assert(fc.property(fc.array(fc.dictionary(fc.string(), fc.string())), (blocks) => {
    assertEquals<unknown>(openThinking(sealThinking(blocks)), blocks.map((one) => ({ ...one })));
  }));
});

Deno.test("forged sealed thinking with too many members in total is refused by its path", () => {
  const blocks = (count: number) => Array.from({ length: count }, () => ({}));
  const items = [USER, thought("A", blocks(150_000)), thought("B", blocks(50_000)), TURN];
  assertEquals(reasoningOf(items, "compat"), ["AB"]);
  const one = [USER, thought("A", blocks(200_001)), TURN];
  const together = [...items.slice(0, 3), thought("C", blocks(1)), TURN];
  for (const [list, path] of [[one, 1], [together, 3]] as const) {
    const refused = translate({ input: list }, "compat");
    assert(!refused.ok && isRefusal(refused.failure));
    assertEquals(refused.failure.kind, "request_too_large");
    assertEquals(refused.failure.at, `input[${path}].encrypted_content`);
  }
});

Deno.test("sealed thinking that was changed or made elsewhere is refused", () => {
  const sealed = sealThinking([BLOCK]);
  for (let at = 0; at < sealed.length; at += 1) {
    const other = sealed[at] === "A" ? "B" : "A";
    assertEquals(openThinking(sealed.slice(0, at) + other + sealed.slice(at + 1)), null);
  }
  for (const text of ["", "gAAAA", sealed.slice(0, -1), `${sealed}A`]) {
    assertEquals(openThinking(text), null);
  }
});

Deno.test("the output of a response is translated back into the model's original message", () => {
  const expected: readonly StreamEvent[] = [
    reasoning("A"),
    signed("A"),
    text("a"),
    ...call(0, "f", "{}"),
    finish("tool_calls"),
  ];
  const answer = encodeResponse(expected, labelsOf());
  assert(answer.ok && Array.isArray(answer.value.resource.output));
  const output = answer.value.resource.output.filter(isObject);
  const result = { type: "function_call_output", call_id: "call_0", output: "ok" };
  const input = [USER, ...output, result];
  assertEquals(reasoningOf(input, "messages"), [[BLOCK]]);
  assertEquals(messagesOf(input, "messages"), [
    USER,
    {
      ...TURN,
      tool_calls: [{ id: "call_0", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "call_0", content: "ok" },
  ]);
});
