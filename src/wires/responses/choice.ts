import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { mapObjects } from "../chat_request/chat_tools.ts";
import {
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
  wrongValue,
} from "../chat_request/refusals.ts";

import { FIELDS } from "./fields.ts";

const NAME = FIELDS.members("tool_choice[function].function");

const ALLOWED = FIELDS.members("tool_choice[allowed_tools].allowed_tools");

const PLAIN: readonly Optional[] = ["none", "auto", "required"];

/** Returns `tool_choice` without the nested object of Chat; null if the request does not set it. */
export function toolChoice(choice: Optional, path = "tool_choice"): Result<JsonValue> {
  if ((choice ?? null) === null) return success(null);
  if (typeof choice === "string") {
    return PLAIN.includes(choice)
      ? success(choice)
      : wrongValue(path, "'auto', 'none', 'required' or an object");
  }
  if (!isObject(choice)) return wrongType(path, "a string or an object");
  return choice.type === "allowed_tools" ? allowedChoice(choice, path) : namedChoice(choice, path);
}

/** Returns the legacy `function_call` as a `tool_choice`; null if the request does not set it. */
export function functionChoice(choice: Optional): Result<JsonValue> {
  return isObject(choice)
    ? encodeName(choice, "function_call", "function")
    : toolChoice(choice, "function_call");
}

function namedChoice(choice: JsonObject, path: string): Result<JsonObject> {
  const { type } = choice;
  if (type !== "function" && type !== "custom") return unsupported(`${path}.type`);
  const unknown = unknownMember(choice, FIELDS.members(`tool_choice[${type}]`), path);
  if (unknown !== null) return unknown;
  return encodeName(choice[type], `${path}.${type}`, type);
}

function encodeName(called: Optional, path: string, type: string): Result<JsonObject> {
  if (!isObject(called)) return wrongType(path, "an object");
  const unknown = unknownMember(called, NAME, path);
  if (unknown !== null) return unknown;
  const { name } = called;
  return typeof name === "string" ? success({ type, name }) : missing(`${path}.name`);
}

function allowedChoice(choice: JsonObject, path: string): Result<JsonObject> {
  const unknown = unknownMember(choice, FIELDS.members("tool_choice[allowed_tools]"), path);
  if (unknown !== null) return unknown;
  const inner = choice.allowed_tools;
  const at = `${path}.allowed_tools`;
  if (!isObject(inner)) return wrongType(at, "an object");
  const other = unknownMember(inner, ALLOWED, at);
  if (other !== null) return other;
  const { mode } = inner;
  if (mode !== "auto" && mode !== "required") {
    return wrongValue(`${at}.mode`, "'auto' or 'required'");
  }
  const named = mapObjects(inner.tools, `${at}.tools`, namedChoice);
  return named.ok ? success({ type: "allowed_tools", mode, tools: [...named.value] }) : named;
}
