import { assertEquals } from "../../support/assert.ts";
import { assertFailed } from "../../support/translated.ts";
import { added, encodeFields } from "./encoded_request.ts";

const PLAIN = { name: "f", parameters: { type: "object" }, strict: true, description: "d" };

Deno.test("a function is sent without nesting, with the defaults that Chat omits", () => {
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
    include: ["reasoning.encrypted_content"],
  });
});

Deno.test("a custom tool and its grammar are sent without nesting", () => {
  const grammar = { definition: "start: A", syntax: "lark" };
  const tools = [
    { name: "f" },
    { name: "g", description: "d", format: { type: "text" } },
    { name: "h", format: { type: "grammar", grammar } },
  ].map((custom) => ({ type: "custom", custom }));
  assertEquals<unknown>(added({ tools }), {
    tools: [
      { type: "custom", name: "f" },
      { type: "custom", name: "g", description: "d", format: { type: "text" } },
      { type: "custom", name: "h", format: { type: "grammar", ...grammar } },
    ],
    include: ["reasoning.encrypted_content"],
  });
});

Deno.test("a tool choice is sent without nesting and otherwise unchanged", () => {
  const f = { type: "function", function: { name: "f" } };
  const flat = { type: "function", name: "f" };
  const g = { type: "custom", custom: { name: "g" } };
  const flatCustom = { type: "custom", name: "g" };
  const cases: readonly (readonly [given: unknown, sent: unknown])[] = [
    ["none", "none"],
    ["auto", "auto"],
    ["required", "required"],
    [f, flat],
    [g, flatCustom],
    [
      { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [f, g] } },
      { type: "allowed_tools", mode: "auto", tools: [flat, flatCustom] },
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

Deno.test("legacy functions are sent as tools without parallel calls", () => {
  assertEquals<unknown>(added({ functions: [PLAIN], parallel_tool_calls: true }), {
    tools: [{ type: "function", ...PLAIN }],
    parallel_tool_calls: false,
  });
});

Deno.test("a tool or a choice that cannot be translated is refused with its path", () => {
  const tool = (called: unknown) => ({ tools: [{ type: "function", function: called }] });
  const custom = (called: unknown) => ({ tools: [{ type: "custom", custom: called }] });
  const grammar = (inner: unknown) =>
    custom({ name: "a", format: { type: "grammar", grammar: inner } });
  const allowed = (inner: unknown) => ({
    tool_choice: { type: "allowed_tools", allowed_tools: inner },
  });
  const cases: readonly [Parameters<typeof assertFailed>[1], Record<string, unknown>, string][] = [
    ["missing_required_parameter", custom({}), "tools[0].custom.name"],
    ["invalid_type", { tools: [{ type: "custom" }] }, "tools[0].custom"],
    ["unsupported_feature", custom({ name: "a", x: 1 }), "tools[0].custom.x"],
    ["invalid_type", custom({ name: "a", format: "text" }), "tools[0].custom.format"],
    [
      "unsupported_feature",
      custom({ name: "a", format: { type: "json" } }),
      "tools[0].custom.format.type",
    ],
    [
      "unsupported_feature",
      custom({ name: "a", format: { type: "grammar", syntax: "lark" } }),
      "tools[0].custom.format.syntax",
    ],
    ["invalid_type", grammar(null), "tools[0].custom.format.grammar"],
    [
      "missing_required_parameter",
      grammar({ syntax: "lark" }),
      "tools[0].custom.format.grammar.definition",
    ],
    [
      "missing_required_parameter",
      grammar({ definition: "d" }),
      "tools[0].custom.format.grammar.syntax",
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
    ["unsupported_feature", { tool_choice: { type: "mcp" } }, "tool_choice.type"],
    ["unsupported_feature", { tool_choice: { type: "custom", name: "a" } }, "tool_choice.name"],
    [
      "missing_required_parameter",
      { tool_choice: { type: "function", function: {} } },
      "tool_choice.function.name",
    ],
    ["invalid_value", allowed({ mode: "all", tools: [] }), "tool_choice.allowed_tools.mode"],
    [
      "unsupported_feature",
      allowed({ mode: "auto", tools: [{ type: "mcp" }] }),
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
