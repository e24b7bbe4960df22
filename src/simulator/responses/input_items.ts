import { newId } from "../../core/ids.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { Deps } from "../protocol.ts";

const PREFIXES: ReadonlyMap<string, string> = new Map([
  ["message", "msg_"],
  ["reasoning", "rs_"],
  ["function_call", "fc_"],
  ["function_call_output", "fco_"],
  ["custom_tool_call", "ctc_"],
  ["compaction", "cmp_"],
]);

/** Returns the type of an input item. Messages and references may omit it. */
export function typeOf(item: JsonObject): string {
  if (typeof item.type === "string") return item.type;
  return item.role === undefined ? "item_reference" : "message";
}

/** Returns an input item as list endpoints show it, with an id, a status and content parts. */
export function toListedItem(item: JsonObject, deps: Deps): JsonObject {
  const type = typeOf(item);
  const id = typeof item.id === "string" ? item.id : newId(PREFIXES.get(type) ?? "item_", deps);
  switch (type) {
    case "message":
      return { ...item, ...statusOf(item), id, type, content: toListedParts(item) };
    case "reasoning": {
      const { content, ...rest } = item;
      return { ...rest, ...Array.isArray(content) && { content }, id };
    }
    case "function_call":
    case "function_call_output":
      return { ...item, ...statusOf(item), id };
    default:
      return { ...item, id };
  }
}

function statusOf({ status }: JsonObject) {
  return { status: typeof status === "string" ? status : "completed" };
}

function toListedParts({ role, content }: JsonObject): JsonObject[] {
  const parts: JsonValue[] = typeof content === "string"
    ? [{ text: content }]
    : Array.isArray(content)
    ? content
    : [];
  return parts.filter(isObject).map((part) =>
    role === "assistant" ? toOutputPart(part) : toInputPart(part)
  );
}

function toOutputPart(part: JsonObject): JsonObject {
  return part.type === "refusal"
    ? part
    : { type: "output_text", annotations: [], logprobs: [], ...part };
}

function toInputPart(part: JsonObject): JsonObject {
  return part.type === "input_image"
    ? { detail: "auto", ...part }
    : { type: "input_text", ...part };
}

/** Returns the text of an item. Parts without text become their type in brackets. */
export function textOf(item: JsonObject): string {
  return textIn(item.content ?? item.output ?? item.summary ?? item.arguments);
}

function textIn(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.map((part) => {
    if (!isObject(part)) return "";
    const text = part.text ?? part.refusal;
    if (typeof text === "string") return text;
    return part.type === "input_image" ? "[image]" : "[file]";
  }).join("");
}

/** Returns the items of an `input`. A string is one user message. */
export function parseInput(input: JsonValue | undefined): readonly JsonObject[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return Array.isArray(input) ? input.filter(isObject) : [];
}
