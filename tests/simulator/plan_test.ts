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

async function said(path: string, more: JsonObject): Promise<string> {
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
    const called = await said(path, { tools: [tool] });
    assertStringIncludes(called, "The plan has a call.");
    assert(/"name":"add"/.test(called), called);
    assertStringIncludes(await said(path, {}), "The tool add is not offered.");
  });
}

Deno.test("a planned refusal and a planned cut end a Messages stream as they say", async () => {
  const content = (turn: JsonObject) => `sim-plan: ${JSON.stringify([turn])}`;
  const refused = await said("/messages/v1/messages", {
    messages: [{ role: "user", content: content({ say: "No.", end: "refusal" }) }],
  });
  const { stop_reason, stop_details } = object(refused);
  assertEquals([stop_reason, object(stop_details).explanation], ["refusal", "No."]);
  const cut = await said("/messages/v1/messages", {
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
