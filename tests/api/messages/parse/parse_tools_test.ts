import type { JsonObject, JsonValue } from "../../../../src/core/json/json.ts";
import type { WireName } from "../../../../src/wires/wire.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";
import {
  encodeFor,
  fieldsOf,
  promisesOf,
  refusalOf,
  translate,
  TRANSLATED,
  translateFields,
  translateMessages,
} from "../translated.ts";

const USER = { role: "user", content: "hi" };
const SCHEMA = { type: "object", properties: {} };

function tool(name: string, more: JsonObject = {}): JsonObject {
  return { name, input_schema: SCHEMA, ...more };
}

function made(name: string, more: JsonObject = {}): JsonObject {
  return { type: "function", function: { name, parameters: SCHEMA, ...more } };
}

/** The refusal of one tool behind another. */
function refused(second: JsonValue) {
  return refusalOf(translateFields({ tools: [tool("a"), second] }));
}

Deno.test("a custom tool is a function with its description and its schema", () => {
  for (const type of [undefined, null, "custom"]) {
    const typed = type === undefined ? {} : { type };
    assertEquals(fieldsOf({ tools: [tool("f", { description: "D", ...typed })] }), {
      tools: [{ type: "function", function: { name: "f", description: "D", parameters: SCHEMA } }],
    });
  }
});

Deno.test("the schema of a tool keeps its text, $schema included", () => {
  const schema = '{ "$schema":"https://json-schema.org/draft/2020-12/schema","9":1,"8":1.0}';
  const { chat } = valueOf(translate(
    `{"max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":${schema}}]}`,
  ));
  const tools = `"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]}`;
  assert(chat.document.text.endsWith(tools), chat.document.text);
});

Deno.test("strict true is sent; a local target without checks refuses it with the client's own path", () => {
  assertEquals(fieldsOf({ tools: [tool("f", { strict: true })] }), {
    tools: [made("f", { strict: true })],
  });
  assertEquals(fieldsOf({ tools: [tool("f", { strict: false })] }), { tools: [made("f")] });
  const refused = encodeFor({ tools: [tool("f", { strict: true })] }, "local", { verify: false });
  assertEquals(refusalOf(refused).slice(0, 2), ["unsupported_feature", "tools.0.custom.strict"]);
});

Deno.test("what a local target cannot enforce is checked on the response, and named in the client's own paths", () => {
  const input_schema = { ...SCHEMA, required: [], additionalProperties: false };
  const tools = [tool("a"), tool("f", { strict: true, input_schema })];
  assertEquals(promisesOf({ tools }, "local"), ["tools.1.strict"]);
  const tool_choice = { type: "any", disable_parallel_tool_use: true };
  assertEquals(promisesOf({ tools: [tool("f")], tool_choice }, "local"), [
    "tool_choice.disable_parallel_tool_use",
    "tool_choice",
  ]);
});

Deno.test("a schema that cannot be checked is refused with the client's own path", () => {
  assertEquals(
    refusalOf(encodeFor({ tools: [tool("f", { strict: true })] }, "local")).slice(0, 2),
    [
      "unsupported_feature",
      "tools.0.custom.input_schema.additionalProperties",
    ],
  );
});

Deno.test("eager_input_streaming asks for nothing, nor do empty examples and direct callers", () => {
  const nothing = { eager_input_streaming: true, input_examples: [], allowed_callers: ["direct"] };
  assertEquals(fieldsOf({ tools: [tool("f", nothing)] }), { tools: [made("f")] });
});

Deno.test("callers other than the model are dropped and named", () => {
  const allowed_callers = ["direct", "code_execution_20260120"];
  const tools = [tool("a"), tool("f", { allowed_callers })];
  for (const wire of TRANSLATED) {
    assertEquals(fieldsOf({ tools }, wire), { tools: [made("a"), made("f")] });
    assertEquals(valueOf(translateFields({ tools }, wire)).lossy, ["tools.1.allowed_callers"]);
  }
});

Deno.test("examples, other callers and unknown members of a tool are refused by name", () => {
  const extra = "Extra inputs are not permitted";
  assertEquals(
    refused(tool("f", { input_examples: [{}] }))[2],
    `tools.1.custom.input_examples: ${extra}`,
  );
  assertEquals(
    refused(tool("f", { allowed_callers: ["code_execution_20260120"] }))[2],
    `tools.1.custom.allowed_callers: ${extra}`,
  );
  assertEquals(refused(tool("f", { brand_new: 1 }))[2], `tools.1.custom.brand_new: ${extra}`);
});

Deno.test("a tool without a name or a schema, or with another type of a member, is refused by its path", () => {
  assertEquals(refused({ input_schema: SCHEMA })[2], "tools.1.custom.name: Field required");
  assertEquals(refused({ name: "", input_schema: SCHEMA })[0], "invalid_value");
  assertEquals(
    refused(tool("f".repeat(1025)))[2],
    "tools.1.custom.name: String should have at most 1024 characters",
  );
  assertEquals(refused({ name: "f" })[2], "tools.1.custom.input_schema: Field required");
  assertEquals(refused(tool("f", { input_schema: "{}" }))[1], "tools.1.custom.input_schema");
  assertEquals(refused(tool("f", { description: 1 }))[1], "tools.1.custom.description");
  assertEquals(refused(tool("f", { strict: "yes" }))[1], "tools.1.custom.strict");
  assertEquals(refused("f")[1], "tools.1");
  assertEquals(refusalOf(translateFields({ tools: {} }))[1], "tools");
});

Deno.test("two tools with one name are refused", () => {
  assertEquals(refused(tool("a")), ["invalid_value", "tools", "tools: Tool names must be unique."]);
});

Deno.test("tools of other types are refused in the words that a client passes on to its model", () => {
  for (
    const type of [
      ...["web_search_20250305", "web_fetch_20260318", "code_execution_20260521", "mcp_toolset"],
      ...["tool_search_tool_bm25", "bash_20250124", "text_editor_20250728", "memory_20250818"],
      ...["computer_20251124", "browser_toolset_20260801", "advisor_20260301"],
    ]
  ) {
    for (const wire of TRANSLATED) {
      assertEquals(
        refusalOf(translateFields({ tools: [{ type, name: "x", max_uses: 8 }] }, wire)),
        [
          "unsupported_feature",
          "tools.0.type",
          `tools.0.type: ${type} is not offered by this provider`,
        ],
      );
    }
  }
});

const LONG = `mcp__${"server".repeat(10)}__tool`;

/** The Chat request of a dialogue that calls the long tool and forces it. */
function withLong(wire: WireName) {
  const call = { type: "tool_use", id: "t", name: LONG, input: {} };
  return valueOf(translateFields({
    tools: [tool(LONG), tool("f")],
    tool_choice: { type: "tool", name: LONG },
    messages: [
      USER,
      { role: "assistant", content: [call] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t" }] },
    ],
  }, wire));
}

Deno.test("a name over 64 characters is cut in tools, calls and choice, and the response gets it back", () => {
  for (const wire of ["compat", "responses"] as const) {
    const { chat, toolName } = withLong(wire);
    const names = [...chat.document.text.matchAll(/"name":"(mcp__[^"]*)"/g)].map(([, name]) =>
      name
    );
    const [short = ""] = names;
    assertEquals(names, [short, short, short]);
    assertEquals([short.length, /_[0-9a-f]{8}$/.test(short)], [64, true]);
    assertEquals([toolName(short), toolName("f"), toolName("other")], [LONG, "f", "other"]);
  }
});

Deno.test("a local runtime gets long names unchanged", () => {
  const { chat, toolName } = withLong("local");
  assertEquals(chat.document.text.split(`"name":"${LONG}"`).length, 4);
  assertEquals(toolName(LONG), LONG);
});

Deno.test("names of exactly 64 characters stay, and long names that begin alike stay distinct", () => {
  const name = "n".repeat(64);
  assertEquals(fieldsOf({ tools: [tool(name)] }), { tools: [made(name)] });
  assertEquals(translateFields({ tools: [tool(`${name}a`), tool(`${name}b`)] }).ok, true);
});

const DEFERRED = ["A", "B", "C"].map((name) => tool(name, { defer_loading: true }));

/** The names of the tools that are sent with this dialogue. */
function sentNames(messages: JsonValue[], more: JsonObject = {}): readonly string[] {
  const tools = [...DEFERRED, tool("Bash"), tool("Search")];
  const { chat } = valueOf(translateMessages(messages, "compat", { tools, ...more }));
  const sent = chat.document.value.tools ?? [];
  return JSON.stringify(sent).match(/(?<="name":")[^"]*/g) ?? [];
}

function loads(id: string, ...names: readonly string[]): JsonValue[] {
  const content = names.map((tool_name) => ({ type: "tool_reference", tool_name }));
  return [
    { role: "assistant", content: [{ type: "tool_use", id, name: "Search", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
  ];
}

Deno.test("a deferred tool is not sent until the dialogue names it", () => {
  assertEquals(sentNames([USER]), ["Bash", "Search"]);
});

Deno.test("deferred tools that references name come behind all other tools, in the order of their first mention", () => {
  assertEquals(sentNames([USER, ...loads("t", "C"), ...loads("u", "A", "C")]), [
    "Bash",
    "Search",
    "C",
    "A",
  ]);
});

Deno.test("a deferred tool is sent when a past call or the choice names it", () => {
  const called = [
    USER,
    { role: "assistant", content: [{ type: "tool_use", id: "t", name: "B", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t" }] },
  ];
  assertEquals(sentNames(called), ["Bash", "Search", "B"]);
  assertEquals(sentNames(called, { tool_choice: { type: "tool", name: "A" } }), [
    "Bash",
    "Search",
    "B",
    "A",
  ]);
});

Deno.test("the tools of a turn are a prefix of those of the next turn", () => {
  const before = sentNames([USER, ...loads("t", "B")]);
  const after = sentNames([USER, ...loads("t", "B"), ...loads("u", "A")]);
  assertEquals(after.slice(0, before.length), [...before]);
});

Deno.test("without a tool to send there is no list of tools", () => {
  for (const tools of [[], null, DEFERRED]) assertEquals(fieldsOf({ tools }), {});
});

const CHOICES: readonly (readonly [given: JsonObject, sent: JsonObject])[] = [
  [{ type: "auto" }, { tool_choice: "auto" }],
  [{ type: "any" }, { tool_choice: "required" }],
  [{ type: "tool", name: "f" }, { tool_choice: { type: "function", function: { name: "f" } } }],
  [{ type: "none" }, { tool_choice: "none" }],
  [{ type: "auto", disable_parallel_tool_use: true }, {
    tool_choice: "auto",
    parallel_tool_calls: false,
  }],
  [{ type: "any", disable_parallel_tool_use: false }, { tool_choice: "required" }],
  [{ type: "none", disable_parallel_tool_use: true }, { tool_choice: "none" }],
];

for (const [given, sent] of CHOICES) {
  Deno.test(`tool_choice ${JSON.stringify(given)} is ${JSON.stringify(sent)}`, () => {
    for (const wire of TRANSLATED) {
      assertEquals(fieldsOf({ tools: [tool("f")], tool_choice: given }, wire), {
        ...sent,
        tools: [made("f")],
      });
    }
  });
}

Deno.test("a local target without checks refuses a choice that forces a call, and one call at a time, by the client's own paths", () => {
  const tools = [tool("f")];
  const unchecked = { verify: false };
  for (const type of ["any", "tool"]) {
    const tool_choice = type === "tool" ? { type, name: "f" } : { type };
    const [kind, param, message] = refusalOf(encodeFor({ tools, tool_choice }, "local", unchecked));
    assertEquals([kind, param], ["unsupported_feature", "tool_choice"]);
    assert(message.startsWith("tool_choice: The provider cannot force a tool call;"), message);
  }
  const single = { type: "auto", disable_parallel_tool_use: true };
  const [kind, param] = refusalOf(encodeFor({ tools, tool_choice: single }, "local", unchecked));
  assertEquals([kind, param], [
    "unsupported_feature",
    "tool_choice.disable_parallel_tool_use",
  ]);
  assertEquals(encodeFor({ tool_choice: single }, "local", unchecked).ok, true);
});

Deno.test("without tools auto and none ask for nothing, any is refused", () => {
  for (const type of ["auto", "none"]) assertEquals(fieldsOf({ tool_choice: { type } }), {});
  assertEquals(refusalOf(translateFields({ tool_choice: { type: "any" }, tools: DEFERRED })), [
    "invalid_value",
    "tool_choice",
    "tool_choice: tool_choice may only be specified while providing tools",
  ]);
});

Deno.test("a choice of a tool that is not declared, or of another form, is refused", () => {
  const at = (tool_choice: JsonValue) =>
    refusalOf(translateFields({ tools: [tool("f")], tool_choice }));
  assertEquals(
    at({ type: "tool", name: "g" })[2],
    "tool_choice.name: Tool 'g' not found in provided tools",
  );
  assertEquals(at({ type: "tool" })[2], "tool_choice.name: Field required");
  assertEquals(
    at({ type: "all" })[2],
    "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'",
  );
  assertEquals(
    at({ type: "auto", disable_parallel_tool_use: 1 })[1],
    "tool_choice.disable_parallel_tool_use",
  );
  assertEquals(
    at({ type: "auto", name: "f" })[2],
    "tool_choice.name: Extra inputs are not permitted",
  );
  assertEquals(at("auto")[1], "tool_choice");
});
