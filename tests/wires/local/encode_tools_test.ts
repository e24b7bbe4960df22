import { messageOf } from "../../../src/core/failure/openai_error.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { isObject } from "../../../src/core/json/json.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { bodyOf, encodeFields, encodeText } from "./target.ts";

const TOOL = {
  type: "function",
  function: {
    name: "f",
    description: "d",
    parameters: { type: "object", additionalProperties: false, properties: {} },
  },
};

function toolsIn(fields: Record<string, unknown>): unknown {
  const body = bodyOf(encodeFields(fields));
  assert(isObject(body));
  return body.tools;
}

Deno.test("a function tool is sent with its complete schema", () => {
  assertEquals<unknown>(toolsIn({ tools: [TOOL] }), [TOOL]);
});

Deno.test("a tool without parameters gets the empty object schema", () => {
  assertEquals<unknown>(toolsIn({ tools: [{ type: "function", function: { name: "f" } }] }), [
    { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } },
  ]);
});

Deno.test("numbers in a tool schema keep their text", () => {
  const tools = '[{"type":"function","function":{"name":"f","parameters":' +
    '{"type":"object","properties":{"a":{"minimum":1.50,"maximum":12345678901234567890}}}}}]';
  const request = `{"messages":[{"role":"user","content":"Hi"}],"tools":${tools}}`;
  assertStringIncludes(valueOf(encodeText(request)), `"tools":${tools}`);
});

const UNCHECKED = { verify: false };

Deno.test("strict is not sent, and without verify strict true is refused with advice", () => {
  const tool = (strict: unknown) => [{ ...TOOL, function: { ...TOOL.function, strict } }];
  for (const strict of [false, null, true]) {
    assertEquals<unknown>(toolsIn({ tools: tool(strict) }), [TOOL]);
  }
  assertFailed(
    encodeFields({ tools: tool("yes") }),
    "invalid_type",
    "tools[0].function.strict",
  );
  const refused = encodeFields({ tools: [TOOL, ...tool(true)] }, UNCHECKED);
  assertFailed(refused, "unsupported_feature", "tools[1].function.strict");
  assert(!refused.ok);
  assertStringIncludes(messageOf(refused.failure), "strict: false");
  assertStringIncludes(messageOf(refused.failure), "verify: true");
});

Deno.test("tools of other types and unknown fields are refused with their path", () => {
  const one = (tool: unknown) => encodeFields({ tools: [tool] });
  assertFailed(one({ type: "web_search" }), "unsupported_feature", "tools[0].type");
  assertFailed(
    one({ ...TOOL, more: {} }),
    "unsupported_feature",
    "tools[0].more",
  );
  assertFailed(
    one({ type: "function", function: { name: "f", more: 1 } }),
    "unsupported_feature",
    "tools[0].function.more",
  );
  assertFailed(
    one({ type: "function", function: {} }),
    "missing_required_parameter",
    "tools[0].function.name",
  );
  assertFailed(
    one({ type: "function", function: { name: "f", parameters: [] } }),
    "invalid_type",
    "tools[0].function.parameters",
  );
});

Deno.test("a tool choice of none omits the tools, so that the model cannot call them", () => {
  assertEquals(toolsIn({ tools: [TOOL], tool_choice: "none" }), undefined);
  assertEquals(
    toolsIn({ tools: [TOOL], tool_choice: "none", parallel_tool_calls: false }),
    undefined,
  );
  assertEquals(toolsIn({ functions: [TOOL.function], function_call: "none" }), undefined);
  const unknown = { type: "web_search" };
  assertEquals(toolsIn({ tools: [unknown], tool_choice: "none" }), undefined, "not read");
});

Deno.test("without verify, disabled parallel calls and required calls are refused", () => {
  const cases: readonly (readonly [fields: Record<string, unknown>, param: string])[] = [
    [{ tools: [TOOL], parallel_tool_calls: false }, "parallel_tool_calls"],
    [{ tools: [TOOL], tool_choice: "required" }, "tool_choice"],
    [{ tools: [TOOL], tool_choice: { type: "function", function: { name: "f" } } }, "tool_choice"],
    [{ tools: [TOOL], tool_choice: { type: "allowed_tools", allowed_tools: {} } }, "tool_choice"],
    [{ functions: [TOOL.function], function_call: { name: "f" } }, "function_call"],
  ];
  for (const [fields, param] of cases) {
    const refused = encodeFields(fields, UNCHECKED);
    assertFailed(refused, "unsupported_feature", param);
    assert(!refused.ok);
    assertStringIncludes(messageOf(refused.failure), "verify: true");
  }
  for (const parallel_tool_calls of [true, false]) {
    assertEquals<unknown>(toolsIn({ tools: [TOOL], parallel_tool_calls }), [TOOL]);
  }
});

Deno.test("only the tools that may be called are sent", () => {
  const g = { ...TOOL, function: { ...TOOL.function, name: "g" } };
  const named = (name: string) => ({ type: "function", function: { name } });
  const sent = (tool_choice: unknown) => toolsIn({ tools: [TOOL, g], tool_choice });
  assertEquals<unknown>(sent("required"), [TOOL, g]);
  assertEquals<unknown>(sent(named("g")), [g]);
  for (const mode of ["auto", "required"]) {
    const allowed_tools = { mode, tools: [named("g")] };
    assertEquals<unknown>(sent({ type: "allowed_tools", allowed_tools }), [g]);
  }
  const functions = [TOOL.function, g.function];
  assertEquals<unknown>(toolsIn({ functions, function_call: { name: "g" } }), [g]);
});

Deno.test("the one permitted function is sent as the schema of the text, if the runtime takes one", () => {
  const g = { ...TOOL, function: { ...TOOL.function, name: "g" } };
  const capable = { capabilities: { structured_outputs: true } };
  const sent = (fields: Record<string, unknown>) => {
    const body = bodyOf(encodeFields(fields, capable));
    assert(isObject(body));
    return [body.tools, body.format];
  };
  const choice = { type: "function", function: { name: "g" } };
  const { parameters } = TOOL.function;
  assertEquals<unknown>(sent({ tools: [TOOL, g], tool_choice: choice }), [undefined, parameters]);
  assertEquals<unknown>(sent({ tools: [TOOL], tool_choice: "required" }), [undefined, parameters]);
  assertEquals<unknown>(sent({ tools: [TOOL, g], tool_choice: "required" }), [
    [TOOL, g],
    undefined,
  ]);
  const json = { response_format: { type: "json_object" } };
  assertFailed(
    encodeFields({ tools: [TOOL], tool_choice: "required", ...json }, capable),
    "unsupported_feature",
    "response_format",
  );
});

Deno.test("a JSON format is refused with tools where nothing is checked, and sent without them", () => {
  const json = { response_format: { type: "json_object" } };
  const unchecked = { verify: false };
  assertFailed(
    encodeFields({ tools: [TOOL], ...json }, unchecked),
    "unsupported_feature",
    "response_format.type",
  );
  for (const alone of [json, { tools: [TOOL], tool_choice: "none", ...json }]) {
    assert(encodeFields(alone, unchecked).ok);
  }
});

Deno.test("a choice that names no tool of the request is refused with its path", () => {
  const cases: readonly [Record<string, unknown>, Parameters<typeof assertFailed>[1], string][] = [
    [{ tool_choice: "required" }, "invalid_value", "tool_choice"],
    [{ tools: [TOOL], tool_choice: "any" }, "invalid_value", "tool_choice"],
    [{ tools: [TOOL], tool_choice: { type: "mcp" } }, "unsupported_feature", "tool_choice.type"],
    [
      { tools: [TOOL], tool_choice: { type: "function", function: {} } },
      "missing_required_parameter",
      "tool_choice.function.name",
    ],
    [
      { tools: [TOOL], tool_choice: { type: "function", function: { name: "x" } } },
      "invalid_value",
      "tool_choice.function.name",
    ],
    [
      { functions: [TOOL.function], function_call: { name: "x" } },
      "invalid_value",
      "function_call.name",
    ],
    [
      { tools: [TOOL], tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto" } } },
      "invalid_value",
      "tool_choice.allowed_tools.tools",
    ],
    [
      { tools: [TOOL], tool_choice: "required", function_call: { name: "f" } },
      "invalid_parameter_combination",
      "function_call",
    ],
  ];
  for (const [fields, kind, param] of cases) assertFailed(encodeFields(fields), kind, param);
});

Deno.test("legacy functions become tools", () => {
  assertEquals<unknown>(toolsIn({ functions: [TOOL.function] }), [TOOL]);
  assertFailed(
    encodeFields({ functions: [TOOL.function], tools: [TOOL] }),
    "invalid_parameter_combination",
    "functions",
  );
});
