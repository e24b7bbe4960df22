import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { findFunction, mapObjects, refuseBothTools } from "../chat_request/chat_tools.ts";
import {
  isEmpty,
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
} from "../chat_request/refusals.ts";
import { exactMember } from "./fields.ts";

/**
 * Returns the tools of a Chat request for the local runtime; empty if the model must not call
 * tools. The runtime enforces no choice, so a choice that requires a call is refused.
 */
export function encodeTools(document: JsonDocument): Result<readonly JsonObject[]> {
  const { functions, tool_choice, function_call, parallel_tool_calls } = document.value;
  const refused = refuseBothTools(document.value);
  if (refused !== null) return refused;
  for (const [key, choice] of Object.entries({ tool_choice, function_call })) {
    if (!isPlainChoice(choice)) {
      return unsupported(key, "The provider cannot force a tool call; send 'auto'.");
    }
  }
  // The runtime has no choice "none": the tools are not sent, so the model cannot call them.
  if (tool_choice === "none" || function_call === "none") return success([]);
  const made = isEmpty(functions)
    ? mapObjects(exactMember(document, "tools"), "tools", encodeTool)
    : mapObjects(exactMember(document, "functions"), "functions", encodeFunction);
  if (made.ok && made.value.length > 0 && parallel_tool_calls === false) {
    return unsupported("parallel_tool_calls");
  }
  return made;
}

function isPlainChoice(choice: Optional): boolean {
  return choice === undefined || choice === null || choice === "auto" || choice === "none";
}

function encodeTool(tool: JsonObject, path: string): Result<JsonObject> {
  const called = findFunction(tool, path);
  return called.ok ? encodeFunction(called.value, `${path}.function`) : called;
}

function encodeFunction(value: JsonObject, path: string): Result<JsonObject> {
  const unknown = unknownMember(value, ["name", "description", "parameters", "strict"], path);
  if (unknown !== null) return unknown;
  if (typeof value.name !== "string") return missing(`${path}.name`);
  const { name, description, strict } = value;
  if ((strict ?? false) !== false) {
    return unsupported(`${path}.strict`, "Send 'strict: false', or leave it out.");
  }
  const parameters: JsonValue = value.parameters ?? { type: "object", properties: {} };
  if (!isObject(parameters)) return wrongType(`${path}.parameters`, "an object");
  const described = (description ?? null) === null ? {} : { description };
  return success({ type: "function", function: { name, ...described, parameters } });
}
