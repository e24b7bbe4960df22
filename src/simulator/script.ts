import type { Manner } from "./behaviour.ts";
import { invent, inventObject } from "./invent.ts";
import type { Ask, Script, ToolCall } from "./voice.ts";
import { fragmentsOf, wordsOf } from "./words.ts";

const SILENT: Script = {
  thinking: [],
  text: [],
  calls: [],
  finish: "stop",
  output: 0,
  pause: 0,
  defect: null,
  quirk: null,
};

const EIGHT_WORDS = "one two three four five six seven eight";

/** What a model of this manner answers: the same for the same request, cut at the token limit. */
export function scriptFor(manner: Manner, ask: Ask): Script {
  if (ask.loadOnly) return SILENT;
  const script = cut(draft(manner, ask), ask.limit);
  return { ...script, output: tokensOf(script) };
}

function draft(manner: Manner, ask: Ask): Script {
  switch (manner.kind) {
    case "echo":
      return say(ask.prompt);
    case "long":
      return say(Array.from({ length: manner.words }, (_, at) => `word${at + 1}`).join(" "));
    case "slow":
      return { ...say(ask.prompt), pause: manner.pause };
    case "tools":
      return useTools(manner.calls, ask, manner.thinks ? thoughts(ask) : []);
    case "think":
      return { ...say(ask.prompt), thinking: thoughts(ask) };
    case "think_tags":
      return say(`<think>${thoughts(ask).join("")}</think>${ask.prompt}`);
    case "json":
      return { ...SILENT, text: fragmentsOf(JSON.stringify(document(ask))) };
    case "refuse":
      return { ...say("I cannot help with that."), finish: "refusal" };
    case "length":
      return { ...say("This answer ends in the middle of a"), finish: "length" };
    case "filter":
      return { ...say("The rest of this answer was"), finish: "content_filter" };
    case "broken":
      return { ...say(EIGHT_WORDS), defect: manner.defect };
    case "odd":
      return { ...say(EIGHT_WORDS), quirk: manner.quirk };
  }
}

function say(text: string): Script {
  return { ...SILENT, text: wordsOf(text) };
}

function thoughts(ask: Ask): readonly string[] {
  return ask.think ? wordsOf(`The user says: ${ask.prompt}`) : [];
}

function document(ask: Ask) {
  return ask.schema === null ? { text: ask.prompt } : invent(ask.schema);
}

function useTools(calls: 1 | 2, ask: Ask, thinking: readonly string[]): Script {
  if (ask.results.length > 0) {
    const quoted = ask.results.map((result) => `"${result}"`).join(" and ");
    return { ...say(`The tools said ${quoted}.`), thinking };
  }
  const [first, second = first] = ask.tools;
  if (first === undefined || second === undefined) return { ...say(ask.prompt), thinking };
  const called = calls === 2 && !ask.single ? [first, second] : [first];
  return {
    ...SILENT,
    thinking,
    calls: called.map(({ name, parameters }) => ({ name, input: inventObject(parameters) })),
    finish: "tool_calls",
  };
}

function cut(script: Script, limit: number | null): Script {
  if (limit === null || script.thinking.length + script.text.length <= limit) return script;
  const thinking = script.thinking.slice(0, limit);
  const text = script.text.slice(0, limit - thinking.length);
  return { ...script, thinking, text, calls: [], finish: "length" };
}

function tokensOf(script: Script): number {
  const calls = script.calls.reduce((sum, call) => sum + tokensOfCall(call), 0);
  return script.thinking.length + script.text.length + calls;
}

function tokensOfCall({ name, input }: ToolCall): number {
  return wordsOf(name).length + fragmentsOf(JSON.stringify(input)).length;
}
