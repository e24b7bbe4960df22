import { assertEquals } from "../../support/assert.ts";
import { assertFailed, valueOf, type Written } from "../../support/translated.ts";
import { encodeFields, encodeText } from "./encoded_request.ts";

const SCHEMA = { type: "object", properties: { a: { oneOf: [{ type: "number" }] } } };
const EMPTY = { type: "object", properties: {} };

function tool(members: Written = {}): Written {
  return { type: "function", function: { name: "f", ...members } };
}

const TOOLS: readonly [given: Written, sent: Written][] = [
  [tool({ description: "d", parameters: SCHEMA, strict: true }), {
    name: "f",
    description: "d",
    input_schema: SCHEMA,
    strict: true,
  }],
  [tool({ strict: false }), { name: "f", input_schema: EMPTY }],
  [tool({ parameters: null, description: null, strict: null }), { name: "f", input_schema: EMPTY }],
  [tool({ parameters: {} }), { name: "f", input_schema: EMPTY }],
  [tool({ parameters: { properties: { a: {} } } }), {
    name: "f",
    input_schema: { type: "object", properties: { a: {} } },
  }],
  [{ ...tool(), cache_control: { type: "ephemeral", ttl: "1h" } }, {
    name: "f",
    input_schema: EMPTY,
    cache_control: { type: "ephemeral", ttl: "1h" },
  }],
];

Deno.test("function tools are sent with their complete schema", () => {
  for (const [given, sent] of TOOLS) {
    assertEquals<unknown>(valueOf(encodeFields({ tools: [given] })).tools, [sent]);
  }
});

const REFUSED: readonly [given: Written, param: string][] = [
  [{ type: "web_search" }, "tools[0].type"],
  [tool({ parameters: { oneOf: [] } }), "tools[0].function.parameters"],
  [tool({ parameters: { type: "object", anyOf: [] } }), "tools[0].function.parameters"],
  [tool({ parameters: { type: "object", allOf: [] } }), "tools[0].function.parameters"],
  [tool({ parameters: { $ref: "#/$defs/a" } }), "tools[0].function.parameters"],
  [tool({ parameters: { type: "string" } }), "tools[0].function.parameters"],
  [tool({ parameters: { title: "t" } }), "tools[0].function.parameters"],
  [tool({ name: "a.b" }), "tools[0].function.name"],
  [tool({ other: 1 }), "tools[0].function.other"],
  [{ ...tool(), cache_control: { type: "other" } }, "tools[0].cache_control.type"],
];

Deno.test("tools that cannot be translated are refused with their path", () => {
  for (const [given, param] of REFUSED) {
    assertFailed(encodeFields({ tools: [given] }), "unsupported_feature", param);
  }
});

const NAMED = { type: "function", function: { name: "f" } };
const CHOICES: readonly [given: unknown, many: Written | undefined, single: Written][] = [
  [undefined, undefined, { type: "auto", disable_parallel_tool_use: true }],
  ["auto", { type: "auto" }, { type: "auto", disable_parallel_tool_use: true }],
  ["required", { type: "any" }, { type: "any", disable_parallel_tool_use: true }],
  [NAMED, { type: "tool", name: "f" }, {
    type: "tool",
    name: "f",
    disable_parallel_tool_use: true,
  }],
  ["none", { type: "none" }, { type: "none" }],
];

Deno.test("each tool choice is sent, with the parallel call flag except for none", () => {
  for (const [tool_choice, many, single] of CHOICES) {
    for (const parallel of [undefined, null, true, false]) {
      const asked = { tools: [tool()], tool_choice, parallel_tool_calls: parallel };
      const body = valueOf(encodeFields(asked));
      assertEquals<unknown>(body.tool_choice, parallel === false ? single : many);
      assertEquals(Array.isArray(body.tools), true);
    }
  }
});

Deno.test("tool choices that cannot be translated are refused", () => {
  const unknown = { type: "function", function: { name: "g" } };
  const adaptive = { thinking: { type: "adaptive" }, tools: [tool()] };
  const capable = { capabilities: { adaptive_thinking: true } };
  const refuse = (asked: Written) => encodeFields(asked, capable);
  const allowed = { tools: [tool()], tool_choice: { type: "allowed_tools" } };
  assertFailed(refuse(allowed), "unsupported_feature", "tool_choice.type");
  for (const tool_choice of ["required", NAMED]) {
    assertFailed(refuse({ tool_choice }), "invalid_value", "tool_choice");
    assertFailed(refuse({ ...adaptive, tool_choice }), "unsupported_feature", "tool_choice");
  }
  assertFailed(
    refuse({ tools: [tool()], tool_choice: unknown }),
    "invalid_value",
    "tool_choice.function.name",
  );
  const more = { type: "function", function: { name: "f", strict: true } };
  assertFailed(
    refuse({ tools: [tool()], tool_choice: more }),
    "unsupported_feature",
    "tool_choice.function.strict",
  );
  assertFailed(refuse({ tools: [tool()], tool_choice: "any" }), "invalid_value", "tool_choice");
  assertEquals<unknown>(valueOf(refuse({ ...adaptive, tool_choice: "auto" })).tool_choice, {
    type: "auto",
  });
});

Deno.test("legacy functions are sent as tools without parallel calls", () => {
  const functions = [{ name: "f", parameters: SCHEMA }];
  const body = valueOf(encodeFields({ functions, function_call: { name: "f" } }));
  assertEquals<unknown>(body.tools, [{ name: "f", input_schema: SCHEMA }]);
  assertEquals<unknown>(body.tool_choice, {
    type: "tool",
    name: "f",
    disable_parallel_tool_use: true,
  });
  const auto = valueOf(encodeFields({ functions }));
  assertEquals<unknown>(auto.tool_choice, { type: "auto", disable_parallel_tool_use: true });
  assertFailed(
    encodeFields({ functions, function_call: { name: "g" } }),
    "invalid_value",
    "function_call.name",
  );
  const both = encodeFields({ functions, tools: [tool()] });
  assertFailed(both, "invalid_parameter_combination", "functions");
});

Deno.test("numbers in a schema keep their text", () => {
  const schema =
    '{"type":"object","properties":{"a":{"maximum":12345678901234567890,"minimum":1.0}}}';
  const body = valueOf(encodeText(
    `{"messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":` +
      `{"name":"f","parameters":${schema}}}]}`,
  ));
  assertEquals(body.includes(`"input_schema":${schema}`), true, body);
});
