import { assertEquals } from "../../support/assert.ts";
import { assertFailed } from "../../support/translated.ts";
import { added, encodeFields } from "./asked.ts";

const PLAIN = { name: "f", parameters: { type: "object" }, strict: true, description: "d" };

Deno.test("a function stands flat, and what Chat leaves out is said", () => {
  const tools = [PLAIN, { name: "g", strict: null }].map((called) => ({
    type: "function",
    function: called,
  }));
  assertEquals<unknown>(added({ tools }), {
    tools: [
      { type: "function", ...PLAIN },
      {
        type: "function",
        name: "g",
        parameters: { type: "object", properties: {} },
        strict: false,
      },
    ],
  });
});

Deno.test("a choice loses its nesting and nothing else", () => {
  const f = { type: "function", function: { name: "f" } };
  const flat = { type: "function", name: "f" };
  const cases: readonly (readonly [given: unknown, sent: unknown])[] = [
    ["none", "none"],
    ["auto", "auto"],
    ["required", "required"],
    [f, flat],
    [
      { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [f] } },
      { type: "allowed_tools", mode: "auto", tools: [flat] },
    ],
  ];
  for (const [tool_choice, sent] of cases) {
    assertEquals<unknown>(added({ tool_choice }), { tool_choice: sent });
  }
  for (const sent of ["none", "auto"]) {
    assertEquals<unknown>(added({ function_call: sent }), { tool_choice: sent });
  }
  assertEquals<unknown>(added({ function_call: { name: "f" } }), { tool_choice: flat });
});

Deno.test("older functions are tools of which one is called", () => {
  assertEquals<unknown>(added({ functions: [PLAIN], parallel_tool_calls: true }), {
    tools: [{ type: "function", ...PLAIN }],
    parallel_tool_calls: false,
  });
});

Deno.test("a tool or a choice that cannot be kept is refused by its path", () => {
  const tool = (called: unknown) => ({ tools: [{ type: "function", function: called }] });
  const allowed = (inner: unknown) => ({
    tool_choice: { type: "allowed_tools", allowed_tools: inner },
  });
  const cases: readonly [Parameters<typeof assertFailed>[1], Record<string, unknown>, string][] = [
    [
      "unsupported_feature",
      { tools: [{ type: "custom", custom: { name: "a" } }] },
      "tools[0].type",
    ],
    ["unsupported_feature", { tools: [{ type: "web_search" }] }, "tools[0].type"],
    [
      "unsupported_feature",
      tool({ name: "f", output_schema: {} }),
      "tools[0].function.output_schema",
    ],
    ["missing_required_parameter", tool({}), "tools[0].function.name"],
    ["invalid_type", tool({ name: "f", strict: "yes" }), "tools[0].function.strict"],
    ["invalid_type", tool({ name: "f", parameters: [] }), "tools[0].function.parameters"],
    ["invalid_type", tool({ name: "f", description: 1 }), "tools[0].function.description"],
    ["invalid_value", { tool_choice: "any" }, "tool_choice"],
    ["unsupported_feature", { tool_choice: { type: "custom" } }, "tool_choice.type"],
    [
      "missing_required_parameter",
      { tool_choice: { type: "function", function: {} } },
      "tool_choice.function.name",
    ],
    ["invalid_value", allowed({ mode: "all", tools: [] }), "tool_choice.allowed_tools.mode"],
    [
      "unsupported_feature",
      allowed({ mode: "auto", tools: [{ type: "custom" }] }),
      "tool_choice.allowed_tools.tools[0].type",
    ],
    ["missing_required_parameter", { function_call: {} }, "function_call.name"],
    ["invalid_parameter_combination", { ...tool({ name: "f" }), functions: [PLAIN] }, "functions"],
    [
      "invalid_parameter_combination",
      { tool_choice: "auto", function_call: "auto" },
      "function_call",
    ],
  ];
  for (const [kind, fields, param] of cases) assertFailed(encodeFields(fields), kind, param);
});
