import { newCarrier } from "../../src/prompt/carry.ts";
import { foldSystem } from "../../src/prompt/fold_system.ts";
import type { Content } from "../../src/prompt/prompt.ts";
import { wires } from "../../src/wires/registry.ts";
import { assertEquals } from "../support/assert.ts";
import { providerOf } from "../support/translated.ts";
import { promptOf } from "./prompt_of.ts";

const USER = { role: "user", content: "hi" };
const TURN = { role: "assistant", content: "A" };
const CALLING = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "t", type: "function", function: { name: "f", arguments: "{}" } }],
};
const RESULT = { role: "tool", tool_call_id: "t", content: "R" };

function system(content: unknown, role = "system") {
  return { role, content };
}

function textsOf(content: Content | null): unknown {
  const texts = (content?.parts ?? []).map((part) => part.kind === "text" ? part.text : part.kind);
  return content?.isString === true ? texts[0] : texts;
}

/** The kind and the texts of each message after folding, and the lost fields. */
function folded(...messages: readonly unknown[]) {
  const carrier = newCarrier({ fields: wires.local.fields, provider: providerOf(wires.local) });
  const { messages: turns } = foldSystem(promptOf({ messages }), carrier);
  return {
    turns: turns.map(({ kind, content }) => [kind, textsOf(content)]),
    ...carrier.done(),
  };
}

Deno.test("instructions at the head stay", () => {
  assertEquals<unknown>(folded(system("S"), system("D", "developer"), USER), {
    turns: [["instruction", "S"], ["instruction", "D"], ["user", "hi"]],
  });
});

Deno.test("an instruction behind a user message ends it, and one before it begins it", () => {
  assertEquals<unknown>(
    folded(system("S"), USER, system("T"), TURN, system("D", "developer"), USER),
    {
      turns: [
        ["instruction", "S"],
        ["user", "hi\n\n[system]\nT"],
        ["assistant", "A"],
        ["user", "[system]\nD\n\nhi"],
      ],
      lossy: ["messages[2].role", "messages[4].role"],
    },
  );
});

Deno.test("instructions without a user message next to them are one at their place", () => {
  assertEquals<unknown>(folded(USER, TURN, system("T"), system("U"), TURN).turns, [
    ["user", "hi"],
    ["assistant", "A"],
    ["user", "[system]\nT\n\n[system]\nU"],
    ["assistant", "A"],
  ]);
  assertEquals<unknown>(folded(USER, CALLING, RESULT, system("T")).turns.at(-1), [
    "user",
    "[system]\nT",
  ]);
});

Deno.test("an instruction never comes between calls and their results", () => {
  assertEquals<unknown>(folded(USER, CALLING, system("T"), RESULT, USER).turns, [
    ["user", "hi"],
    ["assistant", []],
    ["result", "R"],
    ["user", "[system]\nT\n\nhi"],
  ]);
});

Deno.test("an instruction next to a user message of parts is a part of it", () => {
  const part = (text: string) => ({ type: "text", text });
  const both = system([part("S"), part("T")]);
  assertEquals<unknown>(folded(TURN, both, { role: "user", content: [part("a")] }, both).turns, [
    ["assistant", "A"],
    ["user", ["[system]\nST", "a", "[system]\nST"]],
  ]);
});
