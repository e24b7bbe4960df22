import { bridgeCustomTools } from "../../src/prompt/bridge_custom_tools.ts";
import { newCarrier } from "../../src/prompt/carry.ts";
import { wires } from "../../src/wires/registry.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertFailed, providerOf, valueOf, type Written } from "../support/translated.ts";
import { promptOf } from "./prompt_of.ts";

const USER = { role: "user", content: "Hi" };
const RUN = { type: "custom", custom: { name: "run" } };
const ADD = { type: "function", function: { name: "add" } };

function grammar(definition: string): Written {
  const format = { type: "grammar", grammar: { definition, syntax: "regex" } };
  return { type: "custom", custom: { name: "run", description: "Runs.", format } };
}

function bridge(chat: Written) {
  const wire = wires.messages;
  const carrier = newCarrier({ fields: wire.fields, provider: providerOf(wire) });
  const bridged = bridgeCustomTools(promptOf({ messages: [USER], ...chat }), carrier);
  return { bridged, lossy: carrier.done().lossy ?? [] };
}

Deno.test("a prompt without custom tools is unchanged", () => {
  const { bridged } = bridge({ tools: [ADD], tool_choice: ADD });
  assertEquals(valueOf(bridged).bridged, undefined);
  const prompt = promptOf({ messages: [USER], tools: [ADD] });
  const carrier = newCarrier({ fields: wires.local.fields, provider: providerOf(wires.local) });
  assert(valueOf(bridgeCustomTools(prompt, carrier)).prompt === prompt);
});

Deno.test("the model reads the grammar of a custom tool, whatever it is, and its path is lossy", () => {
  for (const definition of ["a+", "(?=x)(", "%ignore WS\nstart: start"]) {
    const { bridged, lossy } = bridge({ tools: [ADD, grammar(definition)] });
    const { prompt, bridged: names } = valueOf(bridged);
    assertEquals(lossy, ["tools[1].custom.format"]);
    assertEquals([...names ?? []], ["run"]);
    assertEquals(
      prompt.tools[1]?.description,
      "Runs.\n\nPass the whole input of this tool as one plain text in `input`. " +
        `Do not wrap it in JSON or Markdown.\nThe text must match this regex grammar:\n${definition}`,
    );
  }
});

Deno.test("the definition of a grammar has at most 64 KiB", () => {
  assert(bridge({ tools: [grammar("x".repeat(65_536))] }).bridged.ok);
  assertFailed(
    bridge({ tools: [grammar("\u00e9".repeat(32_769))] }).bridged,
    "invalid_value",
    "tools[0].custom.format.grammar.definition",
  );
});

Deno.test("two tools of one name are refused if one of them is a custom tool", () => {
  const twin = { type: "function", function: { name: "run" } };
  assertFailed(bridge({ tools: [RUN, twin] }).bridged, "invalid_value", "tools[1].function.name");
  assertFailed(bridge({ tools: [twin, RUN] }).bridged, "invalid_value", "tools[1].custom.name");
  assert(bridge({ tools: [twin, twin] }).bridged.ok);
});

Deno.test("choices name functions, and calls of tools that are no longer declared are bridged too", () => {
  const choices = [
    RUN,
    { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [RUN, ADD] } },
  ];
  for (const tool_choice of choices) {
    const { choice } = valueOf(bridge({ tools: [RUN, ADD], tool_choice }).bridged).prompt;
    const tools = choice.kind === "named"
      ? [choice.tool]
      : choice.kind === "allowed"
      ? choice.tools
      : [];
    assertEquals(tools.map(({ kind }) => kind), tools.map(() => "function"));
    assertEquals(tools[0]?.name, "run");
  }
  const past = { id: "c", type: "custom", custom: { name: "run", input: 'a\n"' } };
  const messages = [
    USER,
    { role: "assistant", content: null, tool_calls: [past] },
    { role: "tool", tool_call_id: "c", content: "ok" },
  ];
  const { prompt, bridged } = valueOf(bridge({ messages }).bridged);
  const [, turn] = prompt.messages;
  assert(turn?.kind === "assistant");
  assertEquals(turn.calls.map(({ kind, text }) => [kind, text.value]), [
    ["function", '{"input":"a\\n\\""}'],
  ]);
  assertEquals(bridged, undefined);
});
