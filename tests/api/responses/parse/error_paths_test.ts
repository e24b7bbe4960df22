import type { JsonObject } from "../../../../src/core/json/json.ts";
import { messageOf } from "../../../../src/core/failure/openai_error.ts";
import { messages } from "../../../../src/wires/messages/messages.ts";
import { local } from "../../../../src/wires/local/local.ts";
import type { Wire } from "../../../../src/wires/wire.ts";
import { assert, assertEquals, assertStringIncludes } from "../../../support/assert.ts";
import { localProvider } from "../../../wires/local/target.ts";
import { targetAt } from "../../../support/translated.ts";
import { provider } from "../../../wires/messages/encoded_request.ts";
import { refusalOf, translateFor } from "../translated.ts";

const TOOL = { type: "function", name: "f" };
const CALL = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
const RESULT = { type: "function_call_output", call_id: "c", output: "ok" };
const TARGETS = {
  messages: targetAt(provider({ verify: false })),
  local: targetAt(localProvider({ verify: false })),
};

/** The refusal of this request for a target of the wire. */
function messagesOf(wire: Wire, body: JsonObject) {
  assert(wire.name === "messages" || wire.name === "local");
  const translated = translateFor(TARGETS[wire.name], { input: "hi", ...body });
  const encoded = translated.ok ? translated.value.encode() : translated;
  assert(!encoded.ok);
  return encoded;
}

function user(part: JsonObject): JsonObject {
  return { input: [{ role: "user", content: [{ type: "input_text", text: "a" }, part] }] };
}

const CASES: readonly (readonly [Wire, string, JsonObject])[] = [
  [messages, "reasoning.effort", { reasoning: { effort: "high" } }],
  [messages, "max_output_tokens", { max_output_tokens: 0 }],
  [messages, "text.verbosity", { text: { verbosity: "low" } }],
  [messages, "text.format", { text: { format: { type: "json_schema", name: "n", schema: {} } } }],
  [messages, "text.format.type", { text: { format: { type: "json_object" } } }],
  [messages, "temperature", { temperature: 1.5 }],
  [messages, "service_tier", { service_tier: "flex" }],
  [messages, "tools[0].parameters", { tools: [{ ...TOOL, parameters: { type: "array" } }] }],
  [messages, "tools[1].tools[0].name", {
    tools: [TOOL, { type: "namespace", name: "n", tools: [{ ...TOOL, name: "ü" }] }],
  }],
  [messages, "tool_choice.name", { tools: [TOOL], tool_choice: { type: "function", name: "g" } }],
  [messages, "tool_choice.type", {
    tools: [TOOL],
    tool_choice: { type: "allowed_tools", tools: [TOOL] },
  }],
  [
    messages,
    "input[0].content[1].detail",
    user({
      type: "input_image",
      image_url: "http://x.test/",
      detail: "low",
    }),
  ],
  [messages, "input[0].content[1].file_id", user({ type: "input_file", file_id: "f" })],
  [messages, "input[0].content[1].file_data", user({ type: "input_file", filename: "a" })],
  [messages, "input[1].arguments", {
    input: [{ role: "user", content: "q" }, { ...CALL, arguments: "[]" }, RESULT],
  }],
  [messages, "input[2].arguments", {
    instructions: "i",
    input: [
      { role: "user", content: "q" },
      CALL,
      { ...CALL, call_id: "d", arguments: "x" },
      RESULT,
      {
        ...RESULT,
        call_id: "d",
      },
    ],
  }],
  [messages, "input[0].role", { input: [{ role: "assistant", content: "a" }] }],
  [local, "input[0].content[1].image_url", user({ type: "input_image", image_url: "http://x/" })],
  [local, "input[0].content[1].type", user({ type: "input_file", file_data: "x" })],
  [local, "tools[0].strict", { tools: [{ ...TOOL, strict: true }] }],
  [local, "tool_choice", { tools: [TOOL], tool_choice: "required" }],
  [local, "parallel_tool_calls", { tools: [TOOL], parallel_tool_calls: false }],
];

for (const [wire, param, body] of CASES) {
  Deno.test(`${wire.name} refuses ${param} by the client's own path: ${JSON.stringify(body)}`, () => {
    const refused = messagesOf(wire, body);
    assertEquals(refusalOf(refused)[1], param);
    assertStringIncludes(messageOf(refused.failure), `'${param}'`);
  });
}
