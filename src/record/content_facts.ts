import { isObject, type JsonObject, type JsonValue, objectsIn } from "../core/json/json.ts";
import type { RecordHead } from "./record.ts";
import { textBeginning } from "../core/text_beginning.ts";

/** Facts of a head that only the content of a call has. */
export type ContentFacts = Pick<RecordHead, "tools_offered" | "tools_called" | "finish">;

/** Maximum number of names in a list of tools, and maximum length of each. */
const MAX_NAMES_COUNT = 256;
const MAX_NAME_CHARS = 128;

/** Facts of a call without content. */
export const NO_CONTENT_FACTS: ContentFacts = { tools_offered: [], tools_called: [], finish: null };

/** A text of a response without this has no facts. */
export const FACTS = /call|tool_use|"(?:finish_reason|stop_reason|status)"\s*:\s*"/;

/** Returns the facts in the request and the response of a call, whatever its client API. */
export function contentFacts(
  request: JsonObject | null,
  response: readonly JsonObject[],
): ContentFacts {
  const called: string[] = [];
  let finish: string | null = null;
  for (const one of response) {
    collectCalls(one, called);
    finish = finishIn(one) ?? finish;
  }
  return {
    tools_offered: namesOf(objectsIn(request?.tools).flatMap(toolNames)),
    tools_called: namesOf(called),
    finish,
  };
}

/** Returns the ID of the Responses object in a response; null for another one. */
export function responseId(response: readonly JsonObject[]): string | null {
  for (const { object, id, response: inner } of response) {
    const made = isObject(inner) ? inner.id : object === "response" ? id : null;
    if (typeof made === "string") return textBeginning(made, MAX_NAME_CHARS);
  }
  return null;
}

function namesOf(names: readonly string[]): string[] {
  return [...new Set(names)].slice(0, MAX_NAMES_COUNT).map((name) =>
    textBeginning(name, MAX_NAME_CHARS)
  );
}

/** Returns the names of an offered tool: of the function, else of the hosted tool's type. */
function toolNames({ name, type, function: inner, tools }: JsonObject): string[] {
  // The tools of a namespace, which has no further ones in it.
  if (Array.isArray(tools)) return objectsIn(tools).map(nameOf).flatMap((one) => one ?? []);
  const written = isObject(inner) ? inner.name : name ?? type;
  return typeof written === "string" ? [written] : [];
}

function nameOf({ name }: JsonObject): string | null {
  return typeof name === "string" ? name : null;
}

/** Adds the names of the tools that an object of a response calls. */
function collectCalls(one: JsonObject, called: string[]): void {
  for (const choice of objectsIn(one.choices)) {
    for (const message of [choice.delta, choice.message].filter(isObject)) {
      for (const call of objectsIn(message.tool_calls)) {
        addName(isObject(call.function) ? call.function : call.custom, called);
      }
      addName(message.function_call, called);
    }
  }
  addCall(one.content_block, called);
  addCall(one.item, called);
  for (const block of [...objectsIn(one.content), ...objectsIn(one.output)]) addCall(block, called);
  if (isObject(one.response)) {
    for (const block of objectsIn(one.response.output)) addCall(block, called);
  }
}

function addCall(block: JsonValue | undefined, called: string[]): void {
  if (!isObject(block) || typeof block.type !== "string") return;
  if (/(^|_)(tool_use|call)$/.test(block.type)) addName(block, called);
}

function addName(value: JsonValue | undefined, called: string[]): void {
  if (isObject(value) && typeof value.name === "string" && value.name !== "") {
    called.push(value.name);
  }
}

/** Returns the finish reason in an object of a response, in the words of its client API. */
function finishIn(one: JsonObject): string | null {
  const reasons = [
    ...objectsIn(one.choices).map(({ finish_reason }) => finish_reason),
    isObject(one.delta) ? one.delta.stop_reason : null,
    one.stop_reason,
    isObject(one.response) ? one.response.status : null,
    Array.isArray(one.output) ? one.status : null,
  ];
  return reasons.find((reason) => typeof reason === "string" && reason !== "in_progress") as
    | string
    | undefined ?? null;
}
