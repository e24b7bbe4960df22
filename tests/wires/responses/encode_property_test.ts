import fc from "fast-check";
import { isObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { assertValid } from "../../support/schemas.ts";
import { valueOf } from "../../support/translated.ts";
import { encodeRequest } from "./encoded_request.ts";

const words = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });
const ids = fc.string({ minLength: 1, maxLength: 64 }).filter((id) => id === id.trim());

/** A message and its content in order. */
interface Turn {
  readonly message: JsonObject;
  readonly pieces: readonly (readonly [who: string, what: unknown])[];
}

const plain = fc.tuple(
  fc.constantFrom("system", "developer", "user"),
  fc.array(words, { minLength: 1, maxLength: 3 }),
  fc.boolean(),
).map(([role, texts, isText]): readonly Turn[] => {
  const content = isText ? texts.join("") : texts.map((text) => ({ type: "text", text }));
  return [{ message: { role, content }, pieces: [[role, texts.join("")]] }];
});

const answer = fc.record({
  text: fc.option(words),
  refusal: fc.option(words),
  reasoning: fc.option(words),
  calls: fc.array(
    fc.record({
      id: ids,
      isCustom: fc.boolean(),
      name: words,
      text: fc.string(),
      result: fc.string(),
    }),
    { minLength: 1, maxLength: 3 },
  ),
}).map(({ text, refusal, reasoning, calls }): readonly Turn[] => {
  const tool_calls = calls.map(({ id, isCustom, name, text: written }) =>
    isCustom
      ? { id, type: "custom", custom: { name, input: written } }
      : { id, type: "function", function: { name, arguments: written } }
  );
  const message = {
    role: "assistant",
    content: text,
    refusal,
    tool_calls,
    ...reasoning !== null && { reasoning_content: reasoning },
  };
  const spoken = (text ?? "") + (refusal ?? "");
  return [
    {
      message,
      pieces: [
        ...(spoken === "" ? [] : [["assistant", spoken] as const]),
        ...calls.map((call) => ["call", [call.id, call.name, call.text]] as const),
      ],
    },
    ...calls.map(({ id, result }): Turn => ({
      message: { role: "tool", tool_call_id: id, content: result },
      pieces: [["result", [id, result]]],
    })),
  ];
});

const conversation = fc.array(fc.oneof(plain, answer), { minLength: 1, maxLength: 6 })
  .map((turns) => turns.flat());

/**
 * Parses the input of a Responses request independently of the encoder. Returns its content in
 * order.
 */
function readBack(input: JsonValue | undefined): readonly unknown[] {
  assert(Array.isArray(input));
  return input.filter(isObject).map((item) => {
    switch (item.type) {
      case "message":
        return [item.role, spokenIn(item.content)];
      case "function_call":
        return ["call", [item.call_id, item.name, item.arguments]];
      case "custom_tool_call":
        return ["call", [item.call_id, item.name, item.input]];
      default:
        return ["result", [item.call_id, item.output]];
    }
  });
}

function spokenIn(content: JsonValue | undefined): JsonValue {
  if (typeof content === "string") return content;
  assert(Array.isArray(content));
  return content.filter(isObject).map(({ text, refusal }) => text ?? refusal ?? "").join("");
}

Deno.test("any conversation is sent without loss except reasoning texts, and matches the published schema", () => {
  fc.assert(
    fc.property(conversation, fc.boolean(), (turns, stream) => {
      const body = valueOf(encodeRequest({
        messages: turns.map(({ message }) => message),
        stream,
      }));
      assertEquals<unknown>(readBack(body.input), turns.flatMap(({ pieces }) => pieces));
      assertValid("CreateResponse", body);
    }),
  );
});

const controls = fc.record({
  temperature: fc.double({ min: 0, max: 2, noNaN: true }),
  top_p: fc.double({ min: 0, max: 1, noNaN: true }),
  max_completion_tokens: fc.integer({ min: 16, max: 100_000 }),
  metadata: fc.dictionary(words, words, { maxKeys: 3 }),
  reasoning_effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh"),
  verbosity: fc.constantFrom("low", "medium", "high"),
  service_tier: fc.constantFrom("auto", "default", "flex", "priority"),
  parallel_tool_calls: fc.boolean(),
  user: fc.string(),
  prompt_cache_key: fc.string(),
  response_format: fc.constantFrom(
    { type: "text" },
    { type: "json_object" },
    { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } },
  ),
  tools: fc.constantFrom(
    [{ type: "function", function: { name: "f" } }],
    [{ type: "function", function: { name: "f", description: "d", strict: true } }],
    [{ type: "custom", custom: { name: "f", format: { type: "text" } } }],
  ),
  tool_choice: fc.constantFrom(
    "none",
    "auto",
    "required",
    { type: "function", function: { name: "f" } },
    { type: "custom", custom: { name: "f" } },
    {
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] },
    },
  ),
  logprobs: fc.constant(true),
  moderation: fc.record({ model: words }),
  stream: fc.boolean(),
}, { requiredKeys: [] });

Deno.test("any combination of fields matches the published schema", () => {
  fc.assert(
    fc.property(controls, (fields) => {
      const messages = [{ role: "user", content: "Hi" }];
      const body = valueOf(encodeRequest({ messages, ...fields }));
      assertValid("CreateResponse", body);
      assertEquals(body.store, false);
    }),
  );
});
