import { parseChatRequest } from "../../../src/api/chat/request.ts";
import { isRefusal } from "../../../src/core/failure/failure.ts";
import { type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { messageOf } from "../../../src/core/failure/openai_error.ts";
import { newDocument, parseDocument } from "../../../src/formats/document.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";

const MESSAGES: JsonObject[] = [{ role: "user", content: "Hi" }];

/** Kind and path of the refusal of a request with these members; null when it is accepted. */
function refusalOf(members: JsonObject): readonly [kind: string, param: string | null] | null {
  const checked = parseChatRequest(newDocument({ messages: MESSAGES, ...members }));
  if (checked.ok) return null;
  assert(isRefusal(checked.failure));
  const { kind, at } = checked.failure;
  if (at !== null) assertStringIncludes(messageOf(checked.failure), at);
  return [kind, at];
}

const TEXT = [1, true, {}, []];
const NUMBER = ["1", true, {}, []];
const FLAG = ["true", 1, {}, []];
const OBJECT = ["x", 1, true, []];
const LIST = ["x", 1, true, {}];
const TEXT_OR_LIST = [1, true, {}];
const TEXT_OR_OBJECT = [1, true, []];

const WRONG: Readonly<Record<string, readonly JsonValue[]>> = {
  model: TEXT,
  messages: LIST,
  stream: FLAG,
  stream_options: OBJECT,
  store: FLAG,
  metadata: OBJECT,
  temperature: NUMBER,
  top_p: NUMBER,
  top_k: NUMBER,
  n: NUMBER,
  max_completion_tokens: NUMBER,
  max_tokens: NUMBER,
  stop: TEXT_OR_LIST,
  presence_penalty: NUMBER,
  frequency_penalty: NUMBER,
  logit_bias: OBJECT,
  logprobs: FLAG,
  top_logprobs: NUMBER,
  seed: NUMBER,
  tools: LIST,
  tool_choice: TEXT_OR_OBJECT,
  parallel_tool_calls: FLAG,
  response_format: OBJECT,
  reasoning_effort: TEXT,
  verbosity: TEXT,
  modalities: LIST,
  audio: OBJECT,
  prediction: OBJECT,
  web_search_options: OBJECT,
  service_tier: TEXT,
  user: TEXT,
  safety_identifier: TEXT,
  prompt_cache_key: TEXT,
  prompt_cache_retention: TEXT,
  prompt_cache_options: OBJECT,
  moderation: OBJECT,
  functions: LIST,
  function_call: TEXT_OR_OBJECT,
};

for (const [field, values] of Object.entries(WRONG)) {
  Deno.test(`'${field}' of another type is refused by its name`, () => {
    for (const value of values) {
      assertEquals(refusalOf({ [field]: value }), ["invalid_type", field], JSON.stringify(value));
    }
  });
}

const INSIDE: readonly (readonly [path: string, members: JsonObject])[] = [
  ["messages[0]", { messages: ["Hi"] }],
  ["messages[0]", { messages: [null] }],
  ["messages[1].role", { messages: [...MESSAGES, { role: 1 }] }],
  ["messages[1].content", { messages: [...MESSAGES, { role: "user", content: 1 }] }],
  ["messages[0].content", { messages: [{ role: "user", content: {} }] }],
  ["messages[0].name", { messages: [{ role: "user", content: "Hi", name: 1 }] }],
  ["messages[0].tool_calls", { messages: [{ role: "assistant", tool_calls: {} }] }],
  ["messages[0].tool_calls[0]", { messages: [{ role: "assistant", tool_calls: ["x"] }] }],
  ["messages[0].tool_calls[0].id", { messages: [{ role: "assistant", tool_calls: [{ id: 1 }] }] }],
  ["messages[0].tool_call_id", { messages: [{ role: "tool", tool_call_id: 1 }] }],
  ["messages[0].refusal", { messages: [{ role: "assistant", refusal: 1 }] }],
  ["messages[0].function_call", { messages: [{ role: "assistant", function_call: "x" }] }],
  ["messages[0].audio", { messages: [{ role: "assistant", audio: "x" }] }],
  ["tools[0]", { tools: ["x"] }],
  ["tools[0].type", { tools: [{ type: 1 }] }],
  ["tools[1].function", {
    tools: [{ type: "function", function: {} }, { type: "x", function: 1 }],
  }],
  ["response_format.type", { response_format: { type: 1 } }],
  ["response_format.json_schema", { response_format: { type: "json_schema", json_schema: "x" } }],
  ["stream_options.include_usage", { stream_options: { include_usage: "yes" } }],
  ["functions[0]", { functions: ["x"] }],
  ["functions[0].name", { functions: [{ name: 1 }] }],
];

for (const [path, members] of INSIDE) {
  Deno.test(`'${path}' of another type is refused by its path: ${JSON.stringify(members)}`, () => {
    assertEquals(refusalOf(members), ["invalid_type", path]);
  });
}

const MISSING: readonly (readonly [path: string, members: JsonObject])[] = [
  ["messages", { messages: null }],
  ["messages", { messages: [] }],
  ["messages[0].role", { messages: [{ content: "Hi" }] }],
  ["messages[0].role", { messages: [{ role: null, content: "Hi" }] }],
  ["tools[0].type", { tools: [{ function: {} }] }],
  ["functions[0].name", { functions: [{}] }],
  ["response_format.type", { response_format: {} }],
];

for (const [path, members] of MISSING) {
  Deno.test(`a missing '${path}' is refused: ${JSON.stringify(members)}`, () => {
    assertEquals(refusalOf(members), ["missing_required_parameter", path]);
  });
}

Deno.test("a request without messages is refused as incomplete", () => {
  const checked = parseChatRequest(newDocument({ model: "m" }));
  assert(!checked.ok && isRefusal(checked.failure));
  assertEquals([checked.failure.kind, checked.failure.at], [
    "missing_required_parameter",
    "messages",
  ]);
});

Deno.test("an empty list of messages is refused as empty, not as missing", () => {
  const checked = parseChatRequest(newDocument({ model: "m", messages: [] }));
  assert(!checked.ok && isRefusal(checked.failure));
  assertEquals(messageOf(checked.failure), "The field 'messages' must not be empty.");
});

Deno.test("null in an optional field is the same as its absence", () => {
  for (const field of Object.keys(WRONG).filter((name) => name !== "messages")) {
    assertEquals(refusalOf({ [field]: null }), null, field);
  }
  const nulls = { name: null, tool_calls: null, refusal: null, content: null, audio: null };
  assertEquals(refusalOf({ messages: [{ role: "assistant", ...nulls }] }), null);
});

Deno.test("permitted values and unknown fields are left to the provider", () => {
  assertEquals(
    refusalOf({ temperature: 99, n: -1, reasoning_effort: "ultra", new_field: [1] }),
    null,
  );
  assertEquals(refusalOf({ messages: [{ role: "narrator", content: [], mood: 1 }] }), null);
  assertEquals(refusalOf({ stop: "x" }) ?? refusalOf({ stop: ["x"] }), null);
  assertEquals(refusalOf({ tool_choice: "auto" }) ?? refusalOf({ tool_choice: {} }), null);
});

Deno.test("fields with the names of inherited members, such as toString, are ordinary fields", () => {
  const members = { constructor: 1, toString: "x", ["__proto__"]: { messages: 1 } };
  assertEquals(refusalOf(members), null);
});

Deno.test("stream and include_usage are enabled only by true", () => {
  const read = (members: JsonObject) => {
    const checked = parseChatRequest(newDocument({ messages: MESSAGES, ...members }));
    assert(checked.ok);
    return [checked.value.stream, checked.value.includeUsage];
  };
  assertEquals(read({}), [false, false]);
  assertEquals(read({ stream: null, stream_options: null }), [false, false]);
  assertEquals(read({ stream: true }), [true, false]);
  assertEquals(read({ stream: true, stream_options: { include_usage: null } }), [true, false]);
  assertEquals(read({ stream: true, stream_options: { include_usage: true } }), [true, true]);
});

Deno.test("a plain request with a number beyond the range is refused as any other of the wrong type", () => {
  for (const number of ["1e999", "-1e999"]) {
    const text = `{"messages":[{"role":"user","content":"Hi"}],"temperature":${number}}`;
    const document = parseDocument(text);
    assert(document.ok);
    const checked = parseChatRequest(document.value);
    assert(!checked.ok && isRefusal(checked.failure));
    assertEquals([checked.failure.kind, checked.failure.at], ["invalid_type", "temperature"]);
  }
});

Deno.test("a plain request may have unknown members, and null for each known one", () => {
  for (const name of Object.keys(WRONG).filter((name) => name !== "messages")) {
    assertEquals(refusalOf({ [name]: null }), null, name);
  }
  assertEquals(refusalOf({ model: "m", temperature: 1, stream: false, unknown: {} }), null);
  assertEquals(refusalOf({ __proto__: null, toString: 1, constructor: "x" }), null);
});
