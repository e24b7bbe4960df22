import type { Style } from "./model_behaviour.ts";
import { sampleArguments, sampleFromSchema } from "./schema_sample.ts";
import { NO_CACHE_USE } from "./prompt_cache.ts";
import type { ModelOutput, SimRequest, Tool, ToolCall } from "./protocol.ts";
import { plannedTurn } from "./plan.ts";
import { splitFragments, splitWords } from "./tokens.ts";

const EMPTY_OUTPUT: ModelOutput = {
  thinking: [],
  text: [],
  toolCalls: [],
  finish: "stop",
  outputTokens: 0,
  cache: NO_CACHE_USE,
  pauseMs: 0,
  defect: null,
  quirk: null,
};

const EIGHT_WORDS = "one two three four five six seven eight";

/**
 * Generates the output of a model, cut at the token limit. The same request gives the same output.
 */
export function generateOutput(style: Style, request: SimRequest): ModelOutput {
  if (request.loadOnly) return EMPTY_OUTPUT;
  const output = cutAtLimit(unlimitedOutput(style, request), request.maxOutputTokens);
  return { ...output, outputTokens: countOutputTokens(output) };
}

function unlimitedOutput(style: Style, request: SimRequest): ModelOutput {
  switch (style.kind) {
    case "echo":
      return textOutput(request.prompt);
    case "transcript":
      return textOutput(request.transcript().join("\n"));
    case "plan":
      return planOutput(request);
    case "long":
      return textOutput(Array.from({ length: style.words }, (_, at) => `word${at + 1}`).join(" "));
    case "slow":
      return { ...textOutput(request.prompt), pauseMs: style.pauseMs };
    case "tools":
      return toolOutput(style.calls, request, style.thinks ? thinkingWords(request) : []);
    case "recall":
      return request.toolResults.length > 0
        ? { ...textOutput(request.transcript().join("\n")), thinking: thinkingWords(request) }
        : toolOutput(1, request, thinkingWords(request));
    case "think":
      return { ...textOutput(request.prompt), thinking: thinkingWords(request) };
    case "think_tags":
      return textOutput(`<think>${thinkingWords(request).join("")}</think>${request.prompt}`);
    case "json":
      return jsonOutput(request);
    case "refuse":
      return { ...textOutput("I cannot help with that."), finish: "refusal" };
    case "length":
      return { ...textOutput("This answer ends in the middle of a"), finish: "length" };
    case "filter":
      return { ...textOutput("The rest of this answer was"), finish: "content_filter" };
    case "broken":
      return { ...textOutput(EIGHT_WORDS), defect: style.defect };
    case "quirk":
      return { ...textOutput(EIGHT_WORDS), quirk: style.quirk };
  }
}

function textOutput(text: string): ModelOutput {
  return { ...EMPTY_OUTPUT, text: splitWords(text) };
}

function thinkingWords(request: SimRequest): readonly string[] {
  return request.mayThink ? splitWords(`The user says: ${request.prompt}`) : [];
}

function jsonOutput({ jsonSchema, prompt }: SimRequest): ModelOutput {
  const document = jsonSchema === null ? { text: prompt } : sampleFromSchema(jsonSchema);
  return { ...EMPTY_OUTPUT, text: splitFragments(JSON.stringify(document)) };
}

function planOutput(request: SimRequest): ModelOutput {
  const turn = plannedTurn(request.transcript());
  if (turn === null) {
    return request.jsonSchema === null ? textOutput(request.prompt) : jsonOutput(request);
  }
  const { calls, finish } = turn;
  const called = calls.map((call) => {
    const tool = request.tools.find(({ name }) => name === call.name);
    return tool === undefined ? call : { ...call, tool };
  });
  const missing = called.find(({ tool }) => tool === undefined);
  if (missing !== undefined) return textOutput(`The tool ${missing.name} is not offered.`);
  return {
    ...textOutput(finish === "cut" ? EIGHT_WORDS : turn.text),
    thinking: request.mayThink ? splitWords(turn.thinking) : [],
    toolCalls: called,
    finish: finish === "refusal" ? "refusal" : calls.length > 0 ? "tool_calls" : "stop",
    defect: finish === "cut" ? "stream" : null,
  };
}

function toolOutput(calls: 1 | 2, request: SimRequest, thinking: readonly string[]): ModelOutput {
  if (request.toolResults.length > 0) {
    const quoted = request.toolResults.map((result) => `"${result}"`).join(" and ");
    return { ...textOutput(`The tools said ${quoted}.`), thinking };
  }
  const [first, second = first] = request.tools;
  if (first === undefined || second === undefined) {
    const answer = request.jsonSchema === null ? textOutput(request.prompt) : jsonOutput(request);
    return { ...answer, thinking };
  }
  const called = calls === 2 && !request.oneToolCall ? [first, second] : [first];
  return {
    ...EMPTY_OUTPUT,
    thinking,
    toolCalls: called.map((tool) => ({ ...sampleCall(tool), tool })),
    finish: "tool_calls",
  };
}

function sampleCall({ name, parameters, isCustom = false }: Tool): ToolCall {
  return { name, input: isCustom ? { input: "text" } : sampleArguments(parameters) };
}

/** Returns the text for a custom tool: the member `input`, or the whole input as JSON. */
export function customInput({ input }: ToolCall): string {
  return typeof input.input === "string" ? input.input : JSON.stringify(input);
}

function cutAtLimit(output: ModelOutput, limit: number | null): ModelOutput {
  if (limit === null || output.thinking.length + output.text.length <= limit) return output;
  const thinking = output.thinking.slice(0, limit);
  const text = output.text.slice(0, limit - thinking.length);
  return { ...output, thinking, text, toolCalls: [], finish: "length" };
}

function countOutputTokens(output: ModelOutput): number {
  const calls = output.toolCalls.reduce((sum, call) => sum + countCallTokens(call), 0);
  return output.thinking.length + output.text.length + calls;
}

function countCallTokens({ name, input }: ToolCall): number {
  return splitWords(name).length + splitFragments(JSON.stringify(input)).length;
}
