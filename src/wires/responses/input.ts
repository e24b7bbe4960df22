import { isObject, type JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { type Result, success } from "../../core/result.ts";
import {
  missing,
  type Optional,
  unknownMember,
  wrongType,
  wrongValue,
} from "../chat_request/refusals.ts";
import { hasReasoningText, type PastReasoning } from "../chat_request/past_reasoning.ts";
import { newSentBackFilter } from "../../prompt/chat/sent_back.ts";
import { newOpenCalls } from "../../prompt/chat/open_calls.ts";
import { assistantItems } from "./assistant.ts";
import { parseCallId } from "./call_id.ts";
import { inputContent, type PartType } from "./content.ts";
import type { SectionInput } from "./controls.ts";

import { FIELDS } from "./fields.ts";

type Items = Result<readonly JsonObject[]>;

/**
 * Returns `input`: the messages as items, in their order. A Refusal names the field that cannot be
 * translated.
 */
export function input({ body, provider, past }: SectionInput): Result<JsonObject> {
  const { messages } = body;
  if ((messages ?? null) === null) return missing("messages");
  if (!Array.isArray(messages)) return wrongType("messages", "an array");
  const read = newMessageEncoder(provider.settings.normalize_developer_role, past);
  const filter = newSentBackFilter();
  const items: JsonObject[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) return wrongType(`messages[${index}]`, "an object");
    const plain = filter(message, `messages[${index}]`);
    if (!plain.ok) return plain;
    const made = read(plain.value, index);
    if (!made.ok) return made;
    pushAll(items, made.value);
  }
  return success({ input: items });
}

/**
 * Returns a parser for one message after another. A result of a legacy function needs the calls
 * before it.
 */
function newMessageEncoder(
  normalizesDeveloper: boolean,
  past: PastReasoning,
): (message: JsonObject, index: number) => Items {
  const open = newOpenCalls<string>();
  /** IDs of the calls of custom tools, whose results have their own item type. */
  const custom = new Set<Optional>();

  function read(message: JsonObject, index: number): Items {
    const path = `messages[${index}]`;
    switch (message.role) {
      case "developer":
        return plainItem(message, path, normalizesDeveloper ? "system" : "developer", ["text"]);
      case "system":
        return plainItem(message, path, "system", ["text"]);
      case "user":
        return plainItem(message, path, "user", ["text", "image_url", "file"]);
      case "assistant": {
        const id = `function_call_${index}`;
        if (isObject(message.function_call)) open.add(message.function_call.name, id);
        const stored = past.find(message, index);
        if (stored === null && hasReasoningText(message)) past.drop(index);
        const items = assistantItems(message, index, id, stored ?? []);
        if (items.ok) items.value.forEach(noteKind);
        return items;
      }
      case "tool":
        return toolItem(message, path, custom.has(message.tool_call_id));
      case "function":
        return functionItem(message, path);
      default:
        return wrongValue(`${path}.role`, "a known role");
    }
  }

  function noteKind({ type, call_id: id }: JsonObject): void {
    if (type === "custom_tool_call") custom.add(id);
    if (type === "function_call") custom.delete(id);
  }

  function functionItem(message: JsonObject, path: string): Items {
    const unknown = unknownMember(message, FIELDS.members("messages[function]"), path);
    if (unknown !== null) return unknown;
    const id = open.take(message.name);
    return id === null
      ? wrongValue(`${path}.name`, "the name of a call without a result")
      : resultItem(message.content ?? "", path, id, "function_call_output");
  }

  return read;
}

function plainItem(
  message: JsonObject,
  path: string,
  role: string,
  allowed: readonly PartType[],
): Items {
  const unknown = unknownMember(
    message,
    FIELDS.members(role === "user" ? "messages[user]" : "messages[system]"),
    path,
  );
  if (unknown !== null) return unknown;
  const content = inputContent(message.content, `${path}.content`, allowed);
  return content.ok ? success([{ type: "message", role, content: content.value }]) : content;
}

function toolItem(message: JsonObject, path: string, isCustom: boolean): Items {
  const unknown = unknownMember(message, FIELDS.members("messages[tool]"), path);
  if (unknown !== null) return unknown;
  const id = parseCallId(message.tool_call_id, `${path}.tool_call_id`);
  if (!id.ok) return id;
  const type = isCustom ? "custom_tool_call_output" : "function_call_output";
  return resultItem(message.content, path, id.value, type);
}

function resultItem(
  given: Optional,
  path: string,
  id: string,
  type: "function_call_output" | "custom_tool_call_output",
): Items {
  const output = inputContent(given, `${path}.content`, ["text", "image_url", "file"]);
  return output.ok ? success([{ type, call_id: id, output: output.value }]) : output;
}
