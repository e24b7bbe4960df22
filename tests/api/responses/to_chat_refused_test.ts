import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { messagesOf, refusalOf, translate } from "./translated.ts";

type Code =
  | "unsupported_feature"
  | "invalid_value"
  | "invalid_type"
  | "missing_required_parameter"
  | "request_too_large";

const TOOL = { type: "function", name: "f" };
const CALL = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
const RESULT = { type: "function_call_output", call_id: "c", output: "ok" };

function namespace(tool: JsonObject): JsonObject {
  return { tools: [{ type: "namespace", name: "n", tools: [tool] }] };
}

/** Fields next to the input, by the path of the refusal. */
const FIELDS: readonly (readonly [Code, string, JsonObject])[] = [
  ["unsupported_feature", "background", { background: true }],
  ["unsupported_feature", "prompt", { prompt: { id: "pmpt_1" } }],
  ["unsupported_feature", "max_tool_calls", { max_tool_calls: 3 }],
  ["unsupported_feature", "truncation", { truncation: "auto" }],
  ["invalid_value", "truncation", { truncation: "some" }],
  ["unsupported_feature", "top_logprobs", { top_logprobs: 2 }],
  ["unsupported_feature", "context_management", { context_management: [{ type: "compaction" }] }],
  ["unsupported_feature", "moderation", { moderation: { model: "m" } }],
  ["unsupported_feature", "include[0]", { include: ["message.output_text.logprobs"] }],
  ["unsupported_feature", "include[1]", {
    include: ["reasoning.encrypted_content", "file_search_call.results"],
  }],
  ["unsupported_feature", "include[][0]", {
    "include[]": ["computer_call_output.output.image_url"],
  }],
  ["unsupported_feature", "reasoning.summary", { reasoning: { summary: "detailed" } }],
  ["unsupported_feature", "reasoning.generate_summary", {
    reasoning: { generate_summary: "concise" },
  }],
  ["unsupported_feature", "reasoning.mode", { reasoning: { mode: "pro" } }],
  ["unsupported_feature", "reasoning.context", { reasoning: { context: "other_turns" } }],
  ["unsupported_feature", "reasoning.other", { reasoning: { other: 1 } }],
  ["unsupported_feature", "service_tier", { service_tier: "ultrafast" }],
  ["unsupported_feature", "text.other", { text: { other: 1 } }],
  ["unsupported_feature", "text.format.other", { text: { format: { type: "text", other: 1 } } }],
  ["invalid_type", "tools[0].description", { tools: [{ ...TOOL, description: 5 }] }],
  ["invalid_type", "tools[0].parameters", { tools: [{ ...TOOL, parameters: "p" }] }],
  ["invalid_type", "tools[0].tools[0].strict", namespace({ ...TOOL, strict: "yes" })],
  ["unsupported_feature", "text.format.type", { text: { format: { type: "grammar" } } }],
  ["missing_required_parameter", "text.format.name", {
    text: { format: { type: "json_schema", schema: {} } },
  }],
  ["missing_required_parameter", "text.format.schema", {
    text: { format: { type: "json_schema", name: "n" } },
  }],
  ["invalid_type", "text.format.schema", {
    text: { format: { type: "json_schema", name: "n", schema: "s" } },
  }],
  ["unsupported_feature", "stop", { stop: "x" }],
  ["unsupported_feature", "seed", { seed: 1 }],
  ["unsupported_feature", "n", { n: 2 }],
  ["unsupported_feature", "messages", { messages: [{ role: "user" }] }],
  ["unsupported_feature", "response_format", { response_format: { type: "json_object" } }],
  ["unsupported_feature", "tools[0].type", { tools: [{ type: "web_search" }] }],
  ["missing_required_parameter", "tools[1].name", { tools: [TOOL, { type: "custom" }] }],
  ["unsupported_feature", "tools[0].type", { tools: [{ type: "mcp", server_label: "s" }] }],
  ["unsupported_feature", "tools[0].type", { tools: [{ type: "tool_search" }] }],
  ["missing_required_parameter", "tools[0].name", { tools: [{ type: "function" }] }],
  ["unsupported_feature", "tools[0].defer_loading", { tools: [{ ...TOOL, defer_loading: true }] }],
  ["unsupported_feature", "tools[0].output_schema", {
    tools: [{ ...TOOL, output_schema: { a: 1 } }],
  }],
  ["unsupported_feature", "tools[0].allowed_callers", {
    tools: [{ ...TOOL, allowed_callers: ["programmatic"] }],
  }],
  ["invalid_value", "tools[1].name", { tools: [TOOL, TOOL] }],
  ["unsupported_feature", "tools[0].tools[0].type", namespace({ type: "mcp", name: "c" })],
  [
    "unsupported_feature",
    "tools[0].tools[0].defer_loading",
    namespace({ ...TOOL, defer_loading: true }),
  ],
  ["missing_required_parameter", "tools[0].name", { tools: [{ type: "namespace", tools: [] }] }],
  ["invalid_type", "tools[0].tools", { tools: [{ type: "namespace", name: "n" }] }],
  // What each tool of a namespace gets or gives back.
  ["request_too_large", "tools[0].tools[1]", {
    tools: [{
      type: "namespace",
      name: "n",
      description: "d".repeat(1_048_576 / 2 + 1),
      tools: [TOOL, { ...TOOL, name: "g" }],
    }],
  }],
  ["invalid_value", "tools[0].name", {
    tools: [{ type: "namespace", name: "n".repeat(1025), tools: [TOOL] }],
  }],
  ["invalid_value", "tools[0].tools[0].name", namespace({ ...TOOL, name: "f".repeat(1025) })],
  ["invalid_value", "tool_choice", { tools: [TOOL], tool_choice: "some" }],
  ["unsupported_feature", "tool_choice.type", { tools: [TOOL], tool_choice: { type: "mcp" } }],
  ["missing_required_parameter", "tool_choice.name", {
    tools: [TOOL],
    tool_choice: { type: "function" },
  }],
  ["unsupported_feature", "tool_choice.tools[1].type", {
    tools: [TOOL],
    tool_choice: { type: "allowed_tools", tools: [TOOL, { type: "mcp" }] },
  }],
];

for (const [code, param, body] of FIELDS) {
  Deno.test(`${code} at ${param}: ${JSON.stringify(body)}`, () => {
    for (const wire of ["compat", "messages", "local"] as const) {
      assertEquals(refusalOf(translate({ input: "hi", ...body }, wire)), [code, param]);
    }
  });
}

function user(...content: JsonValue[]): JsonObject[] {
  return [{ role: "user", content }];
}

/** Items, by the path of the refusal. */
const ITEMS: readonly (readonly [Code, string, JsonValue[]])[] = [
  ["unsupported_feature", "input[0].type", [{ type: "compaction", encrypted_content: "x" }]],
  ["missing_required_parameter", "input[1].input", [
    ...user(),
    { type: "custom_tool_call", call_id: "c", name: "n" },
  ]],
  ["unsupported_feature", "input[0].type", [{ type: "web_search_call", id: "ws_1" }]],
  ["invalid_value", "input[0].id", [{ type: "item_reference", id: "msg_1" }]],
  ["invalid_value", "input[0].id", [{ id: "msg_1" }]],
  ["invalid_value", "input[0].role", [{ role: "tool", content: "x" }]],
  ["missing_required_parameter", "input[0].content", [{ role: "user" }]],
  ["invalid_type", "input[0].content", [{ role: "assistant", content: 1 }]],
  ["unsupported_feature", "input[0].status", [{
    role: "user",
    content: "x",
    status: "in_progress",
  }]],
  ["unsupported_feature", "input[0].status", [{ ...CALL, status: "incomplete" }, RESULT]],
  ["unsupported_feature", "input[1].status", [CALL, { ...RESULT, status: "incomplete" }]],
  ["unsupported_feature", "input[0].content[0].type", user({ type: "input_audio" })],
  [
    "unsupported_feature",
    "input[0].content[0].file_id",
    user({ type: "input_image", file_id: "f" }),
  ],
  ["missing_required_parameter", "input[0].content[0].image_url", user({ type: "input_image" })],
  [
    "unsupported_feature",
    "input[0].content[0].detail",
    user({
      type: "input_image",
      image_url: "u",
      detail: "original",
    }),
  ],
  [
    "unsupported_feature",
    "input[0].content[0].file_url",
    user({ type: "input_file", file_url: "u" }),
  ],
  [
    "invalid_type",
    "input[0].content[1].text",
    user({ type: "input_text", text: "a" }, {
      type: "input_text",
      text: 1,
    }),
  ],
  ["unsupported_feature", "input[0].content[0].type", [
    { role: "system", content: [{ type: "input_image", image_url: "u" }] },
  ]],
  ["unsupported_feature", "input[0].content[0].type", [
    { role: "assistant", content: [{ type: "input_image", image_url: "u" }] },
  ]],
  ["missing_required_parameter", "input[0].call_id", [{ ...CALL, call_id: null }]],
  ["missing_required_parameter", "input[0].name", [{ ...CALL, name: null }]],
  ["invalid_type", "input[0].arguments", [{ ...CALL, arguments: {} }]],
  ["invalid_value", "input[1].call_id", [CALL, CALL]],
  ["invalid_value", "input[0].call_id", [CALL, ...user()]],
  ["invalid_value", "input[0].call_id", [RESULT, CALL]],
  ["invalid_value", "input[2].call_id", [CALL, RESULT, RESULT]],
  ["missing_required_parameter", "input[1].output", [CALL, { ...RESULT, output: null }]],
  ["unsupported_feature", "input[1].output[0].type", [
    CALL,
    { ...RESULT, output: [{ type: "computer_screenshot", image_url: "u" }] },
  ]],
  ["unsupported_feature", "input[0].encrypted_content", [
    { type: "reasoning", encrypted_content: "gAAAA" },
  ]],
  ["invalid_type", "input[0].content[0]", [{ type: "reasoning", content: ["x"] }]],
  ["unsupported_feature", "input[0].content[0].type", [
    { type: "reasoning", content: [{ type: "other", text: "x" }] },
  ]],
  ["missing_required_parameter", "input", [{ type: "reasoning", summary: [] }]],
];

for (const [code, param, input] of ITEMS) {
  Deno.test(`${code} at ${param}: ${JSON.stringify(input)}`, () => {
    for (const wire of ["compat", "messages", "local"] as const) {
      assertEquals(refusalOf(translate({ input }, wire)), [code, param]);
    }
  });
}

Deno.test("an invalid stored item is refused by its path below the field that refers to it", () => {
  const kept = [{ type: "message", role: "assistant", status: "incomplete", content: "x" }];
  for (
    const [name, id] of [["previous_response_id", "resp_1"], ["conversation", "conv_1"]] as const
  ) {
    const refused = translate({ input: "hi", [name]: id }, "compat", kept);
    assertEquals(refusalOf(refused), ["unsupported_feature", `${name}.items[0].status`]);
  }
});

Deno.test("a field that is nested too deeply is refused by its name", () => {
  const deep = '{"a":'.repeat(600) + "1" + "}".repeat(600);
  const tool = `{"type":"function","name":"f","parameters":${deep}}`;
  assertEquals(refusalOf(translate(`{"input":"hi","tools":[${tool}]}`)), [
    "unsupported_feature",
    "tools",
  ]);
});

Deno.test("a file part is translated with all supported members", () => {
  const [message] = messagesOf(user({ type: "input_file", file_data: "x" }), "compat");
  assert(message !== undefined);
  assertEquals(message.content, [{ type: "file", file: { file_data: "x" } }]);
});
