import {
  parseResponsesRequest,
  type ResponsesRequest,
} from "../../../src/api/responses/request.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { isRefusal } from "../../../src/core/failure/failure.ts";
import { newDocument } from "../../../src/formats/document.ts";
import { assert, assertEquals } from "../../support/assert.ts";

function read(body: JsonObject): ResponsesRequest {
  const request = parseResponsesRequest(newDocument(body));
  assert(request.ok, JSON.stringify(request));
  return request.value;
}

/** The code and the path of the refusal. */
function refused(body: JsonObject): readonly [string, string | null] {
  const request = parseResponsesRequest(newDocument(body));
  assert(!request.ok && isRefusal(request.failure));
  return [request.failure.kind, request.failure.at];
}

Deno.test("a text input becomes one user message, and input items stay unchanged", () => {
  assertEquals<unknown>(read({ input: " hi " }).input, [
    { type: "message", role: "user", content: [{ type: "input_text", text: " hi " }] },
  ]);
  const items = [{ role: "user", content: "a" }, { id: "msg_1" }, { type: "unheard_of", x: [1] }];
  assertEquals<unknown>(read({ input: items }).input, items);
});

Deno.test("absent and null fields have their defaults", () => {
  const nulls = { model: null, stream: null, store: null, conversation: null };
  for (
    const body of [{}, { ...nulls, previous_response_id: null, temperature: null, tools: null }]
  ) {
    const { document: _, exact: __, input: ___, ...rest } = read({ input: "hi", ...body });
    assertEquals(rest, {
      model: "",
      stream: false,
      store: true,
      previousResponseId: null,
      conversation: null,
    });
  }
});

Deno.test("every field of the request is parsed", () => {
  const { model, stream, store, previousResponseId } = read({
    input: "hi",
    model: "m",
    stream: true,
    store: false,
    previous_response_id: "resp_1",
  });
  assertEquals([model, stream, store, previousResponseId], ["m", true, false, "resp_1"]);
  for (const conversation of ["conv_1", { id: "conv_1" }]) {
    assertEquals(read({ input: "hi", conversation }).conversation, "conv_1");
  }
});

Deno.test("input may only be absent with a previous response, a conversation or a prompt", () => {
  for (
    const body of [
      { previous_response_id: "resp_1" },
      { conversation: "conv_1" },
      { prompt: { id: "pmpt_1" } },
    ]
  ) assertEquals(read({ ...body, input: null }).input, []);
  for (const body of [{}, { input: null }, { input: "" }, { input: " \n" }, { input: [] }]) {
    assertEquals(refused(body), ["missing_required_parameter", "input"]);
  }
  assertEquals(refused({ input: " ", previous_response_id: "resp_1" }), [
    "missing_required_parameter",
    "input",
  ]);
});

Deno.test("IDs in references must be valid", () => {
  for (const id of ["", " ", " x", "x\n"]) {
    const refusal = (body: JsonObject) => refused({ input: "hi", ...body });
    assertEquals(refusal({ previous_response_id: id }), ["invalid_value", "previous_response_id"]);
    assertEquals(refusal({ conversation: id }), ["invalid_value", "conversation"]);
    assertEquals(refusal({ conversation: { id } }), ["invalid_value", "conversation.id"]);
  }
});

Deno.test("a request names a previous response or a conversation, not both", () => {
  assertEquals(
    refused({ input: "hi", previous_response_id: "resp_1", conversation: { id: "conv_1" } }),
    ["invalid_parameter_combination", "conversation"],
  );
});

const WRONG: Readonly<Record<string, JsonValue>> = {
  model: 1,
  input: 1,
  "input[1]": [{}, "text"],
  instructions: [],
  stream: "true",
  store: 1,
  previous_response_id: 7,
  conversation: 7,
  "conversation.id": { id: 7 },
  background: "no",
  tools: {},
  "tools[0]": ["function"],
  "tools[0].type": [{ type: 1 }],
  tool_choice: 1,
  parallel_tool_calls: "yes",
  max_tool_calls: "1",
  max_output_tokens: "1",
  temperature: "1",
  top_p: "1",
  top_logprobs: "0",
  text: "json",
  "text.format": { format: "json" },
  "text.verbosity": { verbosity: 1 },
  reasoning: "high",
  "reasoning.effort": { effort: 1 },
  "reasoning.summary": { summary: true },
  truncation: false,
  include: "all",
  "include[0]": [1],
  metadata: [],
  client_metadata: [],
  prompt: "p",
  context_management: {},
  service_tier: 1,
  user: 1,
  safety_identifier: 1,
  prompt_cache_key: 1,
  stream_options: true,
  "stream_options.include_obfuscation": { include_obfuscation: 1 },
};

for (const [path, value] of Object.entries(WRONG)) {
  Deno.test(`the wrong type is refused by its path: ${path}`, () => {
    const [key = ""] = path.split(/[.[]/);
    assertEquals(refused({ input: "hi", [key]: value }), ["invalid_type", path]);
  });
}

Deno.test("a missing required member is named by the refusal", () => {
  const lacking: Readonly<Record<string, JsonObject>> = {
    "tools[0].type": { tools: [{}] },
    "conversation.id": { conversation: {} },
    "prompt.id": { prompt: {} },
  };
  for (const [path, body] of Object.entries(lacking)) {
    assertEquals(refused({ input: "hi", ...body }), ["missing_required_parameter", path]);
  }
});

Deno.test("unknown fields are accepted", () => {
  assertEquals(read({ input: "hi", unheard_of: { a: 1 } }).stream, false);
});

Deno.test("item IDs must be valid", () => {
  for (const member of ["id", "call_id"]) {
    const refusal = (id: JsonValue) =>
      refused({ input: [{ role: "user", content: "a" }, { type: "function_call", [member]: id }] });
    for (const id of ["", " ", " x", "x\n"]) {
      assertEquals(refusal(id), ["invalid_value", `input[1].${member}`]);
    }
    assertEquals(refusal(7), ["invalid_type", `input[1].${member}`]);
  }
});

Deno.test("white space inside an ID is accepted and stays part of the ID", () => {
  assertEquals(read({ input: [{ id: "a b" }], conversation: "c d" }).conversation, "c d");
});
