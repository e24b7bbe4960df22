import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { valueOf } from "../../support/translated.ts";
import { chatOf, translate } from "./translated.ts";

const SHORT = { model: "", messages: [{ role: "user", content: "hi" }] };
const TOOL = { type: "function", name: "f" };
const CHAT_TOOL = { type: "function", function: { name: "f" } };

Deno.test("a minimal request becomes a minimal chat request", () => {
  assertEquals<unknown>(chatOf({}), SHORT);
  assertEquals<unknown>(chatOf({ instructions: "Be brief.", model: "m" }), {
    model: "m",
    messages: [{ role: "system", content: "Be brief." }, ...SHORT.messages],
  });
});

/** A field of the client and what it is in Chat; undefined where it is not sent on. */
const FIELDS: readonly (readonly [JsonObject, JsonObject])[] = [
  [{ temperature: 0.5, top_p: 0.25 }, { temperature: 0.5, top_p: 0.25 }],
  [{ presence_penalty: 1, frequency_penalty: 0 }, { presence_penalty: 1, frequency_penalty: 0 }],
  [{ max_output_tokens: 99 }, { max_completion_tokens: 99 }],
  [{ reasoning: { effort: "low", summary: "auto" } }, { reasoning_effort: "low" }],
  [{ reasoning: { summary: null, generate_summary: null, context: "auto" } }, {}],
  [{ text: { verbosity: "low", format: { type: "text" } } }, { verbosity: "low" }],
  [{ text: { format: { type: "json_object" } } }, { response_format: { type: "json_object" } }],
  [
    { text: { format: { type: "json_schema", name: "n", schema: { a: 1 }, strict: true } } },
    {
      response_format: {
        type: "json_schema",
        json_schema: { name: "n", schema: { a: 1 }, strict: true },
      },
    },
  ],
  [{ service_tier: "flex" }, { service_tier: "flex" }],
  [{ user: "u", safety_identifier: "s", prompt_cache_key: "k" }, {
    user: "u",
    safety_identifier: "s",
    prompt_cache_key: "k",
  }],
  [{ metadata: { a: "b" }, client_metadata: { a: "b" }, store: true }, {}],
  [{ include: [], background: false, truncation: "disabled", top_logprobs: 0 }, {}],
  [{ include: ["reasoning.encrypted_content"], prompt: null, max_tool_calls: null }, {}],
  [{ "include[]": ["reasoning.encrypted_content"], context_management: [] }, {}],
  [{ stream_options: { include_obfuscation: true }, unheard_of: 1 }, {}],
  [{ parallel_tool_calls: false, tool_choice: "auto", tools: [] }, {}],
  [{ tool_choice: "none" }, {}],
];

for (const [sent, expected] of FIELDS) {
  Deno.test(`over chat: ${JSON.stringify(sent)}`, () => {
    assertEquals<unknown>(chatOf(sent), { ...SHORT, ...expected });
  });
}

Deno.test("fields about the user and the cache are sent only to wires that know them", () => {
  const hints = { user: "u", safety_identifier: "s", prompt_cache_key: "k" };
  assertEquals<unknown>(chatOf(hints, "messages"), { ...SHORT, user: "u" });
  assertEquals<unknown>(chatOf(hints, "local"), SHORT);
});

Deno.test("a streamed request always requests the usage", () => {
  assertEquals<unknown>(chatOf({ stream: true }), {
    ...SHORT,
    stream: true,
    stream_options: { include_usage: true },
  });
});

Deno.test("functions are nested, and absent members stay absent", () => {
  const full = { name: "f", description: "d", parameters: { type: "object" }, strict: true };
  const nulls = {
    ...TOOL,
    description: null,
    parameters: null,
    strict: null,
    defer_loading: false,
  };
  const tools = [[TOOL], [nulls], [{ type: "function", ...full }]].map((list) =>
    chatOf({ tools: list }).tools
  );
  assertEquals<unknown>(tools, [[CHAT_TOOL], [CHAT_TOOL], [{ type: "function", function: full }]]);
});

const CHOICES: readonly (readonly [JsonValue, JsonValue])[] = [
  ["auto", "auto"],
  ["none", "none"],
  ["required", "required"],
  [TOOL, CHAT_TOOL],
  [{ type: "function", name: "get", namespace: "db" }, {
    type: "function",
    function: { name: "db__get" },
  }],
  [{ type: "allowed_tools", mode: "required", tools: [TOOL] }, {
    type: "allowed_tools",
    allowed_tools: { mode: "required", tools: [CHAT_TOOL] },
  }],
];

Deno.test("tool_choice is nested, and is sent only together with tools", () => {
  for (const [tool_choice, expected] of CHOICES) {
    const chat = chatOf({ tools: [TOOL], tool_choice, parallel_tool_calls: false });
    assertEquals<unknown>([chat.tool_choice, chat.parallel_tool_calls], [expected, false]);
  }
});

Deno.test("functions of a namespace are flattened, with its description before the functions' descriptions", () => {
  const inner = [{ ...TOOL, name: "get", description: "Gets." }, { ...TOOL, name: "put" }];
  const tools = [{ type: "namespace", name: "db", description: "A store.", tools: inner }, TOOL];
  assertEquals<unknown>(chatOf({ tools }).tools, [
    { type: "function", function: { name: "db__get", description: "A store.\n\nGets." } },
    { type: "function", function: { name: "db__put", description: "A store." } },
    CHAT_TOOL,
  ]);
});

Deno.test("a flat name of more than 64 characters is cut and stays distinct", () => {
  const names = ["a", "b"].map((end) => ({ ...TOOL, name: "x".repeat(70) + end }));
  const tools = [{
    type: "namespace",
    name: "db",
    tools: [...names, { ...TOOL, name: "y".repeat(60) }],
  }];
  const text = JSON.stringify(chatOf({ tools }).tools);
  const made = [...text.matchAll(/"name":"(.*?)"/g)].map(([, name = ""]) => name);
  for (const name of made.slice(0, 2)) assertMatch(name, /^db__x{51}_[0-9a-f]{8}$/);
  assertEquals([new Set(made).size, made[2]], [3, `db__${"y".repeat(60)}`]);
});

Deno.test("numbers that JavaScript would format differently keep their text", () => {
  const tool = '{"type":"function","name":"f","parameters":{"maximum":12345678901234567890}}';
  const format = '{"type":"json_schema","name":"n","schema":{"multipleOf":1.0}}';
  const chat = translate(
    `{"input":"hi","temperature":1.0,"tools":[${tool}],"text":{"format":${format}}}`,
  );
  assert(chat.ok);
  const text = valueOf(chat.value.encode()).payload?.text() ?? "";
  for (const part of ['"maximum":12345678901234567890', '"multipleOf":1.0', '"temperature":1.0']) {
    assertStringIncludes(text, part);
  }
});
