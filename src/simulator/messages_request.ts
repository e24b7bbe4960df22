import { isObject, type JsonObject, type JsonValue, numberOf } from "../core/json.ts";
import { fieldTrouble, headerTrouble } from "./messages_rules.ts";
import { outputTrouble, toolTrouble } from "./messages_tools.ts";
import { blocksOf, type Turn, turnsOf, turnTrouble } from "./messages_turns.ts";
import { complain, type Reading, type Tool } from "./voice.ts";
import { wordsOf } from "./words.ts";

/** A request of the messages protocol, or the first thing that is wrong with it. */
export function readMessages(body: JsonObject, headers: Headers): Reading {
  if (!headers.has("x-api-key") && !headers.has("authorization")) {
    return { complaint: complain("x-api-key header is required", { status: 401 }) };
  }
  for (const message of trouble(body, headers)) return { complaint: complain(message) };
  const turns = turnsOf(body);
  const last = turns.at(-1);
  const choice = isObject(body.tool_choice) ? body.tool_choice : {};
  const texts = [{ blocks: blocksOf(body.system) }, ...turns].map(spokenIn);
  const model = typeof body.model === "string" ? body.model : "";
  return {
    ask: {
      model,
      shownModel: model,
      stream: body.stream === true,
      prompt: promptOf(turns),
      results: resultsOf(last?.blocks ?? []),
      tools: toolsOf(body.tools, choice),
      single: choice.disable_parallel_tool_use === true,
      schema: schemaOf(body.output_config),
      think: !isObject(body.thinking) || body.thinking.type !== "disabled",
      limit: numberOf(body.max_tokens),
      input: texts.reduce((sum, text) => sum + wordsOf(text).length, 0),
      choices: 1,
      loadOnly: false,
      usageWanted: true,
    },
  };
}

function* trouble(body: JsonObject, headers: Headers): Generator<string> {
  yield* headerTrouble(headers);
  yield* fieldTrouble(body, headers);
  yield* toolTrouble(body);
  yield* outputTrouble(body.output_config);
  yield* turnTrouble(body);
}

/** The text of blocks; others show as their kind in brackets. */
function textOf(blocks: readonly JsonObject[]): string {
  return blocks.map(({ type, text }) => {
    if (typeof text === "string") return text;
    return type === "image" ? "[image]" : type === "document" ? "[file]" : "";
  }).join("");
}

function promptOf(turns: readonly Turn[]): string {
  const asked = turns.findLast(({ role, blocks }) =>
    role === "user" && blocks.some(({ type }) => type !== "tool_result")
  );
  return textOf(asked?.blocks ?? []);
}

function spokenIn({ blocks }: Pick<Turn, "blocks">): string {
  return [textOf(blocks), ...resultsOf(blocks)].join(" ").trim();
}

function resultsOf(blocks: readonly JsonObject[]): readonly string[] {
  return blocks.filter(({ type }) => type === "tool_result")
    .map(({ content }) => textOf(blocksOf(content)));
}

function toolsOf(tools: JsonValue | undefined, choice: JsonObject): readonly Tool[] {
  if (!Array.isArray(tools) || choice.type === "none") return [];
  return tools.flatMap((tool) => {
    if (!isObject(tool) || typeof tool.name !== "string" || !isObject(tool.input_schema)) return [];
    if (choice.type === "tool" && choice.name !== tool.name) return [];
    return [{ name: tool.name, parameters: tool.input_schema }];
  });
}

function schemaOf(config: JsonValue | undefined): JsonObject | null {
  if (!isObject(config) || !isObject(config.format)) return null;
  return isObject(config.format.schema) ? config.format.schema : null;
}
