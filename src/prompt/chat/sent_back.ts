import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { type InnerItems, newInnerItems, tooManyInnerItems } from "../inner_json.ts";
import { type Optional, unsupported } from "../refusals.ts";
import { equalsJson, equalsJsonText } from "./same_json.ts";

/** Message fields that a content part may hold for its message if the message itself has none. */
const LIFTED: readonly string[] = ["reasoning_content", "thinking_blocks", "annotations"];

/** Message fields that a content part may repeat. */
const REPEATED: readonly string[] = [
  "role",
  "tool_calls",
  "function_call",
  "refusal",
  "audio",
  ...LIFTED,
];

/** Message fields that request nothing if they are an empty list. */
const EMPTY_LISTS: readonly string[] = ["annotations", "thinking_blocks"];

/** Field in which a client library repeats fields of a message that it does not know itself. */
const COPIES = "provider_specific_fields";

/** Removes from one message what repeats other fields. `path` is the path of the message. */
export type SentBackFilter = (message: JsonObject, path: string) => Result<JsonObject>;

/**
 * Returns the filter for the messages of one request. Clients send complete responses back, with
 * fields that hold nothing new: IDs of messages, the objects that an SDK has parsed from a text,
 * and copies of a message inside its parts. A Refusal names the first of these fields that differs
 * from what it repeats, and texts with too many members and elements. The messages must not be
 * nested deeper than a translation allows.
 */
export function newSentBackFilter(): SentBackFilter {
  const items = newInnerItems();
  return (message, path) => {
    const own = typeof message.id === "string" ? without(message, ["id"]) : message;
    return own.role === "assistant" ? plainAssistant(own, path, items) : success(own);
  };
}

function plainAssistant(given: JsonObject, path: string, items: InnerItems): Result<JsonObject> {
  const own = withoutCopies(given, path, items);
  if (!own.ok) return own;
  const lifted = plainContent(own.value, path, items);
  if (!lifted.ok) return lifted;
  const message = lifted.value;
  const parsed = parsedProblem(message.parsed, message.content, `${path}.parsed`, items);
  if (parsed !== null) return parsed;
  const calls = plainCalls(message, path, items);
  if (!calls.ok) return calls;
  const empty = EMPTY_LISTS.filter((key) => isEmptyList(message[key]));
  const called = calls.value;
  if (called === null && empty.length === 0 && !Object.hasOwn(message, "parsed")) return lifted;
  return success(without({ ...message, ...called }, [...empty, "parsed"]));
}

/**
 * Returns the message without the object of copied fields. Those that the message itself lacks move
 * to the message.
 */
function withoutCopies(message: JsonObject, path: string, items: InnerItems): Result<JsonObject> {
  const copies = message[COPIES];
  if (!isObject(copies)) return success(message);
  const at = `${path}.${COPIES}`;
  const plain = plainPart(copies, (key) => message[key], at, items);
  if (!plain.ok) return plain;
  const unknown = Object.keys(plain.value).find((key) => !LIFTED.includes(key));
  if (unknown !== undefined) return unsupported(`${at}.${unknown}`);
  return success({ ...without(message, [COPIES]), ...plain.value });
}

/**
 * Returns the message with only the own fields in its parts. Fields of the message that only a part
 * holds move to the message.
 */
function plainContent(message: JsonObject, path: string, items: InnerItems): Result<JsonObject> {
  const { content } = message;
  if (!Array.isArray(content)) return success(message);
  const lifted: JsonObject = {};
  const parts: typeof content = [];
  let isChanged = false;
  for (const [index, part] of content.entries()) {
    if (!isObject(part) || !hasForeign(part)) {
      parts.push(part);
      continue;
    }
    const at = `${path}.content[${index}]`;
    // Citations count from the start of the message's text.
    const liftable = index === 0 ? LIFTED : LIFTED.filter((key) => key !== "annotations");
    const plain = plainPart(part, (key) => lifted[key] ?? message[key], at, items);
    if (!plain.ok) return plain;
    for (const key of liftable) {
      const value = plain.value[key];
      if (value !== undefined) lifted[key] = value;
    }
    parts.push(without(plain.value, liftable));
    isChanged = true;
  }
  return success(isChanged ? { ...message, ...lifted, content: parts } : message);
}

/** True if a part has fields besides those of its type. */
function hasForeign(part: JsonObject): boolean {
  return Object.keys(part).some((key) => key !== "type" && key !== part.type);
}

/**
 * Returns a part without the fields that hold nothing new. `memberOf` returns a field of its
 * message. A Refusal names the first field that differs.
 */
function plainPart(
  part: JsonObject,
  memberOf: (key: string) => Optional,
  path: string,
  items: InnerItems,
): Result<JsonObject> {
  const text = part.type === "text" ? part.text : null;
  const parsed = parsedProblem(part.parsed, text, `${path}.parsed`, items);
  if (parsed !== null) return parsed;
  const dropped = ["parsed"];
  for (const [key, value] of Object.entries(part)) {
    if (key === "type" || key === part.type) continue;
    const isNothing = (value ?? null) === null || isEmptyList(value) ||
      (key === "id" && typeof value === "string");
    const isLifted = LIFTED.includes(key) && isAbsent(memberOf(key));
    if (isNothing) dropped.push(key);
    else if (REPEATED.includes(key) && !isLifted) {
      if (!equalsJson(value, memberOf(key))) return differs(`${path}.${key}`, "the message has");
      dropped.push(key);
    }
  }
  return success(without(part, dropped));
}

/** Returns the calls of a message without the parsed arguments; null if no call has any. */
function plainCalls(
  { tool_calls, function_call }: JsonObject,
  path: string,
  items: InnerItems,
): Result<JsonObject | null> {
  const calls = Array.isArray(tool_calls) ? tool_calls : [];
  const made: typeof calls = [];
  for (const [index, call] of calls.entries()) {
    if (!isObject(call)) {
      made.push(call);
      continue;
    }
    const plain = plainCalled(call.function, `${path}.tool_calls[${index}].function`, items);
    if (!plain.ok) return plain;
    made.push(plain.value === null ? call : { ...call, function: plain.value });
  }
  const legacy = plainCalled(function_call, `${path}.function_call`, items);
  if (!legacy.ok) return legacy;
  const isChanged = made.some((call, index) => call !== calls[index]);
  if (!isChanged && legacy.value === null) return success(null);
  return success({
    ...isChanged && { tool_calls: made },
    ...legacy.value !== null && { function_call: legacy.value },
  });
}

function plainCalled(
  called: Optional,
  path: string,
  items: InnerItems,
): Result<JsonObject | null> {
  if (!isObject(called) || !Object.hasOwn(called, "parsed_arguments")) return success(null);
  const { parsed_arguments: parsed, arguments: written } = called;
  const text = typeof written === "string" && written.trim() === "" ? "{}" : written;
  const problem = parsedProblem(parsed, text, `${path}.parsed_arguments`, items);
  return problem ?? success(without(called, ["parsed_arguments"]));
}

/** Returns the refusal of an object that differs from the JSON of the text it was parsed from. */
function parsedProblem(
  parsed: Optional,
  text: Optional,
  path: string,
  items: InnerItems,
): Result<never> | null {
  if ((parsed ?? null) === null) return null;
  const written = joinedText(text);
  if (written === null) return differs(path, "its text holds");
  if (!items.admits(written)) return tooManyInnerItems(path);
  return equalsJsonText(parsed, written) ? null : differs(path, "its text holds");
}

/** Returns the text of a content, also in parts. */
function joinedText(content: Optional): string | null {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  return content.map((part) => isObject(part) && typeof part.text === "string" ? part.text : "")
    .join("");
}

function differs(path: string, from: string): Result<never> {
  return unsupported(path, `It differs from what ${from}; leave it out.`);
}

function isEmptyList(value: Optional): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isAbsent(value: Optional): boolean {
  return (value ?? "") === "" || isEmptyList(value);
}

function without(value: JsonObject, keys: readonly string[]): JsonObject {
  // Both may be as many as a request has members.
  const dropped = new Set(keys);
  return Object.fromEntries(Object.entries(value).filter(([key]) => !dropped.has(key)));
}
