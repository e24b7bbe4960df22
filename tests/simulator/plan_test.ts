import { plannedTurn } from "../../src/simulator/plan.ts";
import { findBehaviour } from "../../src/simulator/model_behaviour.ts";
import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { callSimulator } from "./call_simulator.ts";

const CALL = { call: [{ name: "add", input: { a: 1 } }] };
const PLAN = `sim-plan: ${JSON.stringify([CALL, { think: "Hm.", say: "Done." }, "More."])}`;

Deno.test("a plan has the turn whose number is that of the assistant's turns behind it", () => {
  const lines = [`user: Hello\n${PLAN}\nand more`];
  assertEquals(plannedTurn(lines), {
    thinking: "The plan has a call.",
    text: "",
    calls: [{ name: "add", input: { a: 1 } }],
    finish: "stop",
  });
  // Thinking, text and calls of one turn are one turn.
  lines.push("thinking: Hm.", "assistant: Well", "assistant calls add {}", "add returns 4");
  assertEquals(plannedTurn(lines)?.thinking, "Hm.");
  lines.push("system: Be brief.", "assistant: Done.", "user: Go on");
  assertEquals(plannedTurn(lines)?.text, "More.");
  lines.push("assistant: More.");
  assertEquals(plannedTurn(lines)?.text, "The plan is over.");
});

Deno.test("the last plan of the user counts, and a text without a list is no plan", () => {
  assertEquals(plannedTurn([`user: ${PLAN}`, 'user: sim-plan: ["New."]'])?.text, "New.");
  assertEquals(plannedTurn(["user: sim-plan: soon", "user: Hi"]), null);
  assertEquals(plannedTurn([`assistant: ${PLAN}`, "user: Hi"]), null);
  assertEquals(plannedTurn(['user: sim-plan: [{"end": "cut"}]'])?.finish, "cut");
});

Deno.test("the model names of Claude Code follow plans too", () => {
  assertEquals(findBehaviour("claude-opus-5-5"), findBehaviour("sim-plan"));
  assertEquals(findBehaviour("claude"), null);
});

const TOOL = { name: "add", input_schema: { type: "object" } };
const PATHS = {
  "/compat/v1/chat/completions": { type: "function", function: { name: "add", parameters: {} } },
  "/local/api/chat": { type: "function", function: { name: "add", parameters: {} } },
  "/messages/v1/messages": TOOL,
  "/compat/v1/responses": { type: "function", name: "add", parameters: {} },
} as const;

async function responseText(path: string, more: JsonObject): Promise<string> {
  const list = path.endsWith("responses") ? "input" : "messages";
  const body = {
    model: "sim-plan",
    [list]: [{ role: "user", content: PLAN }],
    stream: false,
    ...path.startsWith("/messages") && { max_tokens: 100 },
    ...more,
  };
  const response = await callSimulator(path, body);
  const text = await response.text();
  assertEquals(response.status, 200, text);
  return text;
}

for (const [path, tool] of Object.entries(PATHS)) {
  Deno.test(`a planned call at ${path} is made only if the request offers its tool`, async () => {
    const called = await responseText(path, { tools: [tool] });
    assertStringIncludes(called, "The plan has a call.");
    assert(/"name":"add"/.test(called), called);
    assertStringIncludes(await responseText(path, {}), "The tool add is not offered.");
  });
}

const RUN = { call: [{ name: "run", input: { input: "a\n" } }] };
const CUSTOM = { type: "custom", name: "run" };

Deno.test("a planned call of a custom tool has a text as its input, also in a namespace or declared in the input", async () => {
  const content = `sim-plan: ${JSON.stringify([RUN, "Done."])}`;
  const nested = { call: [{ ...RUN.call[0], name: "code__run" }] };
  const user = { role: "user", content };
  const inNamespace = { type: "namespace", name: "code", tools: [CUSTOM] };
  const chat = { type: "custom", custom: { name: "run" } };
  const cases: readonly (readonly [string, JsonObject, string])[] = [
    [
      "/compat/v1/chat/completions",
      { messages: [user], tools: [chat] },
      '"type":"custom","custom":{"name":"run","input":"a\\n"}',
    ],
    ["/compat/v1/responses", { input: [user], tools: [CUSTOM] }, '"name":"run","input":"a\\n"'],
    [
      "/compat/v1/responses",
      {
        input: [
          { type: "additional_tools", role: "developer", tools: [inNamespace] },
          { role: "user", content: `sim-plan: ${JSON.stringify([nested])}` },
        ],
      },
      '"name":"run","namespace":"code","input":"a\\n"',
    ],
    [
      "/compat/v1/responses",
      {
        input: [
          user,
          { type: "custom_tool_call", call_id: "c", name: "run", input: "a\n" },
          { type: "custom_tool_call_output", call_id: "c", output: "ok" },
        ],
        tools: [CUSTOM],
      },
      "Done.",
    ],
  ];
  for (const [path, body, text] of cases) {
    assertStringIncludes(await responseText(path, body), text);
  }
});

Deno.test("a planned call of a function has its arguments as the plan writes them", async () => {
  const written = { call: [{ name: "add", arguments: "no JSON" }] };
  const content = `sim-plan: ${JSON.stringify([written])}`;
  const tools = [PATHS["/compat/v1/chat/completions"]];
  const messages = [{ role: "user", content }];
  const text = await responseText("/compat/v1/chat/completions", { messages, tools });
  assertStringIncludes(text, '"arguments":"no JSON"');
});

Deno.test("a planned refusal and a planned cut end a Messages stream as they say", async () => {
  const content = (turn: JsonObject) => `sim-plan: ${JSON.stringify([turn])}`;
  const refused = await responseText("/messages/v1/messages", {
    messages: [{ role: "user", content: content({ say: "No.", end: "refusal" }) }],
  });
  const { stop_reason, stop_details } = object(refused);
  assertEquals([stop_reason, object(stop_details).explanation], ["refusal", "No."]);
  const cut = await responseText("/messages/v1/messages", {
    stream: true,
    messages: [{ role: "user", content: content({ end: "cut" }) }],
  });
  assertStringIncludes(cut, '"text":" four"');
  assert(!cut.includes("five") && !cut.includes("message_stop"), cut);
});

function object(value: unknown): JsonObject {
  const parsed = typeof value === "string" ? parseJson(value) : value;
  return isObject(parsed) ? parsed : {};
}
