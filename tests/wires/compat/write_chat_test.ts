import { newCarrier } from "../../../src/prompt/carry.ts";
import { wires } from "../../../src/wires/registry.ts";
import { encodePrompt } from "../../../src/wires/compat/write_chat.ts";
import { newStrictSchemas } from "../../../src/wires/verified/strict_schemas.ts";
import type { Encoding } from "../../../src/wires/wire.ts";
import { assertEquals } from "../../support/assert.ts";
import { providerOf, targetAt, valueOf, type Written } from "../../support/translated.ts";
import { promptOf } from "../../prompt/prompt_of.ts";

const { compat } = wires;

/** The Chat text for the prompt of a Chat request. */
function written(chat: Written, settings: Written = {}, more: Partial<Encoding> = {}): string {
  const target = targetAt(providerOf(compat, settings));
  const carrier = newCarrier({ fields: compat.fields, provider: target.provider });
  const prompt = promptOf(chat, { wire: compat });
  const encoding = { target, carrier, schemas: newStrictSchemas(), ...more };
  return valueOf(encodePrompt(prompt, encoding)).payload?.text() ?? "";
}

const USER = { role: "user", content: "Hi" };
const text = (value: string) => ({ type: "text", text: value });
const named = (name: string) => ({ type: "function", function: { name } });

/** Chat requests of which everything is in a prompt, in the order of the writer. */
const WHOLE: readonly Written[] = [
  {
    messages: [
      { role: "system", content: "S" },
      { role: "developer", content: [text("a"), text("b")] },
      {
        role: "user",
        content: [
          text("See"),
          { type: "image_url", image_url: { url: "data:image/png;base64,QUJD", detail: "low" } },
          { type: "image_url", image_url: { url: "https://a.example/" } },
          { type: "file", file: { file_id: "f" } },
          { type: "file", file: { file_data: "data:application/pdf;base64,QUJD", filename: "a" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        reasoning_content: "Hm.",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1.0}' } },
          { id: "c2", type: "custom", custom: { name: "g", input: "x" } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: [text("1"), text("2")] },
      { role: "tool", tool_call_id: "c2", content: "" },
      { role: "assistant", content: "No", refusal: "Never." },
      { role: "assistant", content: [text("a"), { type: "refusal", refusal: "b" }] },
      { role: "function", name: "h", content: "r" },
      USER,
    ],
  },
  {
    max_completion_tokens: 20,
    stream: true,
    stream_options: { include_usage: true },
    reasoning_effort: "low",
    temperature: 0.5,
    top_p: 1,
    top_k: 3,
    presence_penalty: 1,
    frequency_penalty: -1,
    seed: 7,
    stop: ["a", "b"],
    user: "u",
    safety_identifier: "s",
    service_tier: "flex",
    prompt_cache_key: "k",
    prompt_cache_retention: "24h",
    prompt_cache_options: { mode: "implicit" },
    verbosity: "low",
    response_format: { type: "json_object" },
    tool_choice: "required",
    parallel_tool_calls: false,
    messages: [USER],
    tools: [
      {
        type: "function",
        function: { name: "f", description: "d", parameters: { type: "object" }, strict: false },
      },
      named("g"),
      { type: "custom", custom: { name: "h", format: { type: "text" } } },
      {
        type: "custom",
        custom: {
          name: "i",
          description: "d",
          format: { type: "grammar", grammar: { definition: "x", syntax: "lark" } },
        },
      },
    ],
  },
  {
    response_format: {
      type: "json_schema",
      json_schema: { name: "n", description: "d", schema: { type: "object" }, strict: true },
    },
    tool_choice: named("f"),
    messages: [USER],
    tools: [named("f")],
  },
  {
    response_format: { type: "text" },
    tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [named("f")] } },
    messages: [USER],
    tools: [named("f")],
  },
];

Deno.test("everything that a prompt has is in the Chat text", () => {
  for (const chat of WHOLE) {
    assertEquals(written(chat), JSON.stringify({ model: "m", ...chat }));
  }
});

Deno.test("numbers and schemas keep their text", () => {
  const target = targetAt(providerOf(compat));
  const carrier = newCarrier({ fields: compat.fields, provider: target.provider });
  const prompt = promptOf({ messages: [USER], tools: [named("f")], temperature: 1 });
  const tools = prompt.tools.flatMap((tool) =>
    tool.kind === "function"
      ? [{ ...tool, parameters: { ...tool.parameters, value: {}, text: '{ "1":1.0,"0":1e2}' } }]
      : []
  );
  const temperature = prompt.sampling.temperature;
  const sampling = {
    ...prompt.sampling,
    temperature: temperature && { ...temperature, exact: JSON.rawJSON("1.0") },
  };
  const encoding = { target, carrier, schemas: newStrictSchemas() };
  assertEquals(
    valueOf(encodePrompt({ ...prompt, tools, sampling }, encoding)).payload?.text(),
    '{"model":"m","temperature":1.0,"messages":[{"role":"user","content":"Hi"}],' +
      '"tools":[{"type":"function","function":{"name":"f","parameters":{ "1":1.0,"0":1e2}}}]}',
  );
});

Deno.test("a client API may put members first", () => {
  assertEquals(
    written({ messages: [USER], user: "u", verbosity: "low" }, {}, {
      chatOrder: ["verbosity", "stop", "messages"],
    }),
    '{"verbosity":"low","messages":[{"role":"user","content":"Hi"}],"model":"m","user":"u"}',
  );
});

Deno.test("defaults of the provider come first, for members that are absent", () => {
  assertEquals(
    written({ messages: [USER], top_p: 1 }, { temperature: 0.1, top_p: 0.2 }),
    '{"temperature":0.1,"model":"m","top_p":1,"messages":[{"role":"user","content":"Hi"}]}',
  );
});

Deno.test("the role of developers is sent where the provider has it", () => {
  const chat = { messages: [{ role: "developer", content: "S" }] };
  const provider = providerOf(compat);
  const target = targetAt({
    ...provider,
    settings: { ...provider.settings, normalize_developer_role: true },
  });
  assertEquals(JSON.parse(written(chat)).messages[0].role, "developer");
  assertEquals(JSON.parse(written(chat, {}, { target })).messages[0].role, "system");
});

Deno.test("the fields that a parser keeps only in part are named", () => {
  const target = targetAt(providerOf(compat));
  const carrier = newCarrier({ fields: compat.fields, provider: target.provider });
  carrier.lose("metadata.user_id");
  const encoding = { target, carrier, schemas: newStrictSchemas() };
  assertEquals(valueOf(encodePrompt(promptOf({ messages: [USER] }), encoding)).lossy, [
    "metadata.user_id",
  ]);
});
