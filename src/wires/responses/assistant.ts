import { isObject, type JsonObject } from "../../core/json.ts";
import { type Result, success } from "../../core/result.ts";
import {
  isEmpty,
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
} from "../fields.ts";
import { callId } from "./call_id.ts";
import { spokenParts } from "./content.ts";

type Items = Result<readonly JsonObject[]>;

const MEMBERS: readonly string[] = [
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
  "reasoning_content",
];

/**
 * An assistant's message as items, in the order that a model makes them: reasoning, message, calls.
 * `index` is that of the message; `legacyId` the id of its `function_call`, which has none itself.
 */
export function assistantItems(
  message: JsonObject,
  index: number,
  legacyId: string,
): Items {
  const path = `messages[${index}]`;
  // Clients send whole answers back, empty lists included.
  const known = isEmpty(message.annotations) ? [...MEMBERS, "annotations"] : MEMBERS;
  const unknown = unknownMember(message, known, path);
  if (unknown !== null) return unknown;
  const calls = callItems(message, path, legacyId);
  if (!calls.ok) return calls;
  const said = spokenItems(message, index, path, calls.value.length > 0);
  if (!said.ok) return said;
  const reasoning = message.reasoning_content ?? "";
  if (typeof reasoning !== "string") return wrongType(`${path}.reasoning_content`, "a string");
  return success([...reasoningItems(reasoning, index), ...said.value, ...calls.value]);
}

/** The API wants an id; nothing is kept there, so that it names nothing. */
function reasoningItems(text: string, index: number): readonly JsonObject[] {
  if (text === "") return [];
  const content = [{ type: "reasoning_text", text }];
  return [{ type: "reasoning", id: `rs_${index}`, summary: [], content }];
}

function spokenItems(
  message: JsonObject,
  index: number,
  path: string,
  hasCalls: boolean,
): Items {
  const content = message.content ?? null;
  const refusal = message.refusal ?? "";
  if (typeof refusal !== "string") return wrongType(`${path}.refusal`, "a string");
  const isSilent = content === null || content === "";
  if (isSilent && refusal === "") {
    if (hasCalls) return success([]);
    if (content === null) return missing(`${path}.content`);
  }
  const head = { type: "message", role: "assistant" };
  if (typeof content === "string" && refusal === "") return success([{ ...head, content }]);
  const parts = spokenParts(isSilent ? null : content, `${path}.content`);
  if (!parts.ok) return parts;
  const refused = refusal === "" ? [] : [{ type: "refusal", refusal }];
  // Parts can only be those of an answer, and an answer has id and status.
  const answer = { ...head, id: `msg_${index}`, status: "completed" };
  return success([{ ...answer, content: [...parts.value, ...refused] }]);
}

function callItems(message: JsonObject, path: string, legacyId: string): Items {
  const calls = message.tool_calls ?? [];
  if (!Array.isArray(calls)) return wrongType(`${path}.tool_calls`, "an array");
  const items: JsonObject[] = [];
  for (const [at, call] of calls.entries()) {
    const item = callItem(call, `${path}.tool_calls[${at}]`);
    if (!item.ok) return item;
    items.push(item.value);
  }
  const legacy = message.function_call ?? null;
  if (legacy === null) return success(items);
  const item = functionItem(legacy, `${path}.function_call`, legacyId);
  return item.ok ? success([...items, item.value]) : item;
}

function callItem(call: Optional, path: string): Result<JsonObject> {
  if (!isObject(call)) return wrongType(path, "an object");
  if ((call.type ?? "function") !== "function") return unsupported(`${path}.type`);
  // A call put together from chunks keeps their index; the order of the list says the same.
  const unknown = unknownMember(call, ["id", "type", "function", "index"], path);
  if (unknown !== null) return unknown;
  const id = callId(call.id, `${path}.id`);
  return id.ok ? functionItem(call.function, `${path}.function`, id.value) : id;
}

/** The arguments are what a model wrote: they keep their text, whatever it is. */
function functionItem(called: Optional, path: string, id: string): Result<JsonObject> {
  if (!isObject(called)) return wrongType(path, "an object");
  const unknown = unknownMember(called, ["name", "arguments"], path);
  if (unknown !== null) return unknown;
  const { name } = called;
  const text = called.arguments ?? "";
  if (typeof name !== "string") return missing(`${path}.name`);
  if (typeof text !== "string") return wrongType(`${path}.arguments`, "a string");
  return success({ type: "function_call", call_id: id, name, arguments: text });
}
