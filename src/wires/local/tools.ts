import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { bothTools, eachOf, functionWithin } from "../chat_request/chat_tools.ts";
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
export function toolsOf(document: JsonDocument): Result<readonly JsonObject[]> {
  const { functions, tool_choice, function_call, parallel_tool_calls } = document.value;
  const refused = bothTools(document.value);
  if (refused !== null) return refused;
  for (const [key, choice] of Object.entries({ tool_choice, function_call })) {
    if (!isPlainChoice(choice)) {
      return unsupported(key, "Nothing there makes a model call a tool; 'auto' is accepted.");
    }
  }
  // The runtime has no choice "none": the tools are not sent, so the model cannot call them.
  if (tool_choice === "none" || function_call === "none") return success([]);
  const made = isEmpty(functions)
    ? eachOf(exactMember(document, "tools"), "tools", toolOf)
    : eachOf(exactMember(document, "functions"), "functions", functionOf);
  if (made.ok && made.value.length > 0 && parallel_tool_calls === false) {
    return unsupported("parallel_tool_calls");
  }
  return made;
}

function isPlainChoice(choice: Optional): boolean {
  return choice === undefined || choice === null || choice === "auto" || choice === "none";
}

function toolOf(tool: JsonObject, path: string): Result<JsonObject> {
  const called = functionWithin(tool, path);
  return called.ok ? functionOf(called.value, `${path}.function`) : called;
}

function functionOf(value: JsonObject, path: string): Result<JsonObject> {
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
