import { isObject, type JsonObject, type JsonValue, numberOf } from "../core/json.ts";
import { behaviourOf } from "./behaviour.ts";
import { localTrouble } from "./local_rules.ts";
import { complain, type Reading, type Tool } from "./voice.ts";
import { wordsOf } from "./words.ts";

/** A chat request of the local protocol, or the first thing that is wrong with it. */
export function readLocal(body: JsonObject): Reading {
  for (const message of localTrouble(body)) return { complaint: complain(message) };
  const model = bareName(body.model);
  const wantsThought = body.think !== undefined && body.think !== null && body.think !== false;
  if (wantsThought && !canThink(model)) {
    return { complaint: complain(`"${model}" does not support thinking`) };
  }
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
  const limit = isObject(body.options) ? numberOf(body.options.num_predict) : null;
  const asked = messages.findLast((message) => roleOf(message) === "user");
  const texts = messages.filter((message) => KNOWN.includes(roleOf(message))).map(textOf);
  return {
    ask: {
      model,
      shownModel: typeof body.model === "string" ? body.model : "",
      stream: body.stream !== false,
      prompt: asked === undefined ? "" : textOf(asked),
      results: resultsOf(messages),
      tools: toolsOf(body.tools),
      single: false,
      schema: isObject(body.format) ? body.format : null,
      think: body.think !== false,
      // Anything below 1 means until done.
      limit: limit !== null && limit > 0 ? limit : null,
      input: texts.reduce((sum, text) => sum + wordsOf(text).length, 0),
      choices: 1,
      loadOnly: messages.length === 0,
      usageWanted: true,
    },
  };
}

/** A model's name without the tag that every model has; empty when it is no text. */
export function bareName(model: JsonValue | undefined): string {
  return typeof model === "string" ? model.replace(/:latest$/, "") : "";
}

/** Tells whether a model thinks before it answers. */
export function canThink(model: string): boolean {
  const behaviour = behaviourOf(model);
  if (behaviour?.does !== "speak") return false;
  const { manner } = behaviour;
  return manner.kind === "think" || manner.kind === "tools" && manner.thinks;
}

// Other roles are unknown to the template of a model, and vanish.
const KNOWN: readonly string[] = ["system", "user", "assistant", "tool"];

function roleOf({ role }: JsonObject): string {
  return typeof role === "string" ? role.toLowerCase() : "";
}

function textOf({ content, images }: JsonObject): string {
  const pictures = Array.isArray(images) ? "[image]".repeat(images.length) : "";
  return (typeof content === "string" ? content : "") + pictures;
}

function resultsOf(messages: readonly JsonObject[]): readonly string[] {
  const before = messages.findLastIndex((message) => roleOf(message) !== "tool");
  return messages.slice(before + 1).map(textOf);
}

function toolsOf(tools: JsonValue | undefined): readonly Tool[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool) => {
    if (!isObject(tool) || !isObject(tool.function)) return [];
    const { name, parameters } = tool.function;
    if (typeof name !== "string") return [];
    return [{ name, parameters: isObject(parameters) ? parameters : {} }];
  });
}
