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

Deno.test("strict false is accepted and not sent, strict true is refused with advice", () => {
  const tool = (strict: unknown) => [{ ...TOOL, function: { ...TOOL.function, strict } }];
  assertEquals<unknown>(toolsIn({ tools: tool(false) }), [TOOL]);
  assertEquals<unknown>(toolsIn({ tools: tool(null) }), [TOOL]);
  const refused = encodeFields({ tools: [TOOL, ...tool(true)] });
  assertFailed(refused, "unsupported_feature", "tools[1].function.strict");
  assert(!refused.ok);
  assertStringIncludes(refused.failure.message, "strict: false");
});

Deno.test("tools of other types and unknown fields are refused with their path", () => {
  const one = (tool: unknown) => encodeFields({ tools: [tool] });
  assertFailed(one({ type: "custom", custom: {} }), "unsupported_feature", "tools[0].type");
  assertFailed(one({ type: "web_search" }), "unsupported_feature", "tools[0].type");
  assertFailed(
    one({ ...TOOL, cache_control: {} }),
    "unsupported_feature",
    "tools[0].cache_control",
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
});

Deno.test("disabled parallel calls are refused if the request has tools", () => {
  assertFailed(
    encodeFields({ tools: [TOOL], parallel_tool_calls: false }),
    "unsupported_feature",
    "parallel_tool_calls",
  );
  assertEquals<unknown>(toolsIn({ tools: [TOOL], parallel_tool_calls: true }), [TOOL]);
});

Deno.test("legacy functions become tools", () => {
  assertEquals<unknown>(toolsIn({ functions: [TOOL.function] }), [TOOL]);
  assertFailed(
    encodeFields({ functions: [TOOL.function], tools: [TOOL] }),
    "invalid_parameter_combination",
    "functions",
  );
});
