import fc from "fast-check";
import { isObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { valueOf } from "../../support/translated.ts";
import { encodeMessages, encodeText } from "./encoded_request.ts";

/** One unit of content in a conversation, in order, with the role that it belongs to. */
type Piece = readonly [who: "system" | "user" | "assistant" | "result", what: JsonValue];

interface Turn {
  readonly message: JsonObject;
  readonly pieces: readonly Piece[];
}

const words = fc.string({ minLength: 1, unit: "grapheme" });
const visible = words.map((text) => `x${text}`);
const input = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }));
const ids = fc.string({ minLength: 1 });

function contentOf(texts: readonly string[], isText: boolean): JsonValue {
  return isText ? texts.join("") : texts.map((text) => ({ type: "text", text }));
}

function piecesOf(who: Piece[0], texts: readonly string[], isText: boolean): readonly Piece[] {
  return (isText ? [texts.join("")] : texts).map((text): Piece => [who, text]);
}

const plain = fc.tuple(
  fc.constantFrom("system", "developer", "user"),
  fc.array(visible, { minLength: 1, maxLength: 3 }),
  fc.boolean(),
).map(([role, texts, isText]): readonly Turn[] => {
  const who = role === "user" ? "user" : "system";
  return [{
    message: { role, content: contentOf(texts, isText) },
    pieces: piecesOf(who, texts, isText),
  }];
});

const answer = fc.record({
  texts: fc.array(visible, { maxLength: 2 }),
  isText: fc.boolean(),
  calls: fc.array(fc.record({ id: ids, name: visible, input, result: words }), { maxLength: 3 }),
}).map(({ texts, isText, calls }): readonly Turn[] => {
  const pieces = texts.length === 0 ? [] : piecesOf("assistant", texts, isText);
  const called = calls.map((call): Piece => ["assistant", [call.name, call.input]]);
  const tool_calls = calls.map(({ id, name, input }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  return [
    {
      message: { role: "assistant", content: contentOf(texts, isText), tool_calls },
      pieces: [...pieces, ...called],
    },
    ...calls.map(({ id, result }): Turn => ({
      message: { role: "tool", tool_call_id: id, content: result },
      pieces: [["result", result]],
    })),
  ];
});

const opening: Turn = { message: { role: "user", content: "Hi" }, pieces: [["user", "Hi"]] };
const conversation = fc.array(fc.oneof(plain, answer), { maxLength: 8 })
  .map((turns) => [opening, ...turns.flat()]);

/** Parses a Messages request independently of the encoder. Returns its content in order. */
function readBack(body: JsonObject): readonly Piece[] {
  const pieces: Piece[] = [];
  const system = typeof body.system === "string" ? [{ text: body.system }] : body.system ?? [];
  assert(Array.isArray(system) && Array.isArray(body.messages));
  for (const block of system) {
    if (isObject(block)) pieces.push(["system", block.text ?? null]);
  }
  for (const message of body.messages) {
    assert(isObject(message) && (message.role === "user" || message.role === "assistant"));
    const { role, content = null } = message;
    if (content === "") continue;
    const blocks: JsonValue = typeof content === "string"
      ? [{ type: "text", text: content }]
      : content;
    assert(Array.isArray(blocks));
    for (const block of blocks) {
      assert(isObject(block));
      if (block.type === "tool_result") pieces.push(["result", block.content ?? null]);
      else if (block.type === "tool_use") {
        pieces.push([role, [block.name ?? null, block.input ?? null]]);
      } else pieces.push([role, block.text ?? null]);
    }
  }
  return pieces;
}

/**
 * Returns the expected content order: instructions first, and results of adjacent user turns before
 * their texts.
 */
function expected(turns: readonly Turn[]): readonly Piece[] {
  const all = turns.flatMap(({ pieces }) => pieces);
  const ordered: Piece[] = all.filter(([who]) => who === "system");
  let stretch: Piece[] = [];
  const flush = () => {
    ordered.push(...stretch.filter(([who]) => who === "result"));
    ordered.push(...stretch.filter(([who]) => who === "user"));
    stretch = [];
  };
  for (const one of all) {
    if (one[0] === "assistant") {
      flush();
      ordered.push(one);
    } else if (one[0] !== "system") stretch.push(one);
  }
  flush();
  return ordered;
}

/** False for an assistant message without content, which still separates two user turns. */
function isTalkative({ message, pieces }: Turn): boolean {
  return message.role !== "assistant" || pieces.length > 0;
}

Deno.test("no content of a conversation is lost, repeated or reordered", () => {
  fc.assert(fc.property(conversation, (whole) => {
    const turns = whole.filter(isTalkative);
    const body = valueOf(encodeMessages(turns.map(({ message }) => message)));
    assertEquals(JSON.stringify(readBack(body)), JSON.stringify(expected(turns)));
  }));
});

Deno.test("the roles of a request always alternate, and no text block is empty", () => {
  fc.assert(fc.property(conversation, (turns) => {
    const { messages } = valueOf(encodeMessages(turns.map(({ message }) => message)));
    assert(Array.isArray(messages));
    for (const [index, message] of messages.entries()) {
      assert(isObject(message));
      assertEquals<unknown>(message.role, index % 2 === 0 ? "user" : "assistant");
      const blocks = Array.isArray(message.content) ? message.content : [];
      assert(blocks.every((block) => isObject(block) && block.text !== ""));
    }
  }));
});

const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`));
const number = fc.tuple(
  fc.constantFrom("", "-"),
  fc.oneof(fc.constant("0"), digits(24).map((text) => `1${text}`)),
  fc.oneof(fc.constant(""), digits(20).map((text) => `.${text}`)),
  fc.oneof(
    fc.constant(""),
    fc.tuple(fc.constantFrom("e", "E+", "e-"), digits(2)).map((e) => e.join("")),
  ),
).map((parts) => parts.join(""));

Deno.test("every JSON number in arguments and schemas keeps its text", () => {
  fc.assert(fc.property(number, (text) => {
    const args = JSON.stringify(`{"a":${text}}`);
    const body = valueOf(encodeText(
      `{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[{"id":"c",` +
        `"function":{"name":"f","arguments":${args}}}]}],"tools":[{"type":"function","function":` +
        `{"name":"f","parameters":{"type":"object","default":${text}}}}]}`,
    ));
    assert(body.includes(`"input":{"a":${text}}`), body);
    assert(body.includes(`"input_schema":{"type":"object","default":${text}}`), body);
  }));
});
