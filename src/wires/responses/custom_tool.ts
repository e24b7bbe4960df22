import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { parseNamedTool } from "../chat_request/chat_tools.ts";
import {
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
} from "../chat_request/refusals.ts";

import { FIELDS } from "./fields.ts";

const GRAMMAR = FIELDS.members("tools[custom].custom.format[grammar].grammar");

/** Returns a custom tool without the nested object of Chat. */
export function customTool(tool: JsonObject, path: string): Result<JsonObject> {
  const unknown = unknownMember(tool, FIELDS.members("tools[custom]"), path);
  if (unknown !== null) return unknown;
  const { custom } = tool;
  const at = `${path}.custom`;
  if (!isObject(custom)) return wrongType(at, "an object");
  const other = unknownMember(custom, FIELDS.members("tools[custom].custom"), at);
  if (other !== null) return other;
  const named = parseNamedTool(custom, at);
  if (!named.ok) return named;
  const format = encodeFormat(custom.format, `${at}.format`);
  if (!format.ok) return format;
  const { name, description } = named.value;
  return success({
    type: "custom",
    name,
    ...description !== null && { description },
    ...format.value !== null && { format: format.value },
  });
}

function encodeFormat(format: Optional, path: string): Result<JsonObject | null> {
  if ((format ?? null) === null) return success(null);
  if (!isObject(format)) return wrongType(path, "an object");
  const { type, grammar } = format;
  if (type !== "text" && type !== "grammar") return unsupported(`${path}.type`);
  const unknown = unknownMember(
    format,
    FIELDS.members(`tools[custom].custom.format[${type}]`),
    path,
  );
  if (unknown !== null) return unknown;
  if (type === "text") return success({ type });
  const at = `${path}.grammar`;
  if (!isObject(grammar)) return wrongType(at, "an object");
  const other = unknownMember(grammar, GRAMMAR, at);
  if (other !== null) return other;
  const { definition, syntax } = grammar;
  if (typeof definition !== "string") return missing(`${at}.definition`);
  if (typeof syntax !== "string") return missing(`${at}.syntax`);
  return success({ type, definition, syntax });
}
