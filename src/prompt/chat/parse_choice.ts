import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../carry.ts";
import type { Choice, ChosenTool, FieldRef } from "../prompt.ts";
import { mapObjects, requiredText } from "../read.ts";
import { contradiction, type Optional, unsupported, wrongType, wrongValue } from "../refusals.ts";

/** Fields of a choice: the current one and that of legacy functions. */
const FIELDS = ["tool_choice", "function_call"] as const;

/**
 * Returns the choice of a Chat request. Two choices contradict each other; a protocol without a
 * choice has no use for `auto`, and needs nothing besides `none`.
 */
export function parseChoice(body: JsonObject, carrier: Carrier): Result<Choice> {
  const hasBoth = FIELDS.every((field) => (body[field] ?? null) !== null);
  if (hasBoth && carrier.hasChoice()) return twoChoices();
  const set = FIELDS.filter((field) => !isFree(body[field]));
  const none = set.find((field) => body[field] === "none");
  if (none !== undefined) return plainChoice("none", none, carrier);
  const [field, other] = set;
  if (other !== undefined) return twoChoices();
  if (field === undefined) {
    const auto = FIELDS.find((one) => body[one] === "auto");
    return auto === undefined ? success({ kind: "unset" }) : plainChoice("auto", auto, carrier);
  }
  const given = body[field];
  if (given === "required") return plainChoice("required", field, carrier);
  if (typeof given === "string") {
    return wrongValue(field, "'auto', 'none', 'required' or an object");
  }
  if (!isObject(given)) return wrongType(field, "a string or an object");
  if (field === "tool_choice") return toolChoice(given, carrier);
  const at: FieldRef = { field: "function_call.name", path: field };
  const refused = carrier.use(at);
  if (refused !== null) return refused;
  const tool = parseName(given, "function", at, carrier);
  return tool.ok ? success({ kind: "named", at, tool: tool.value }) : tool;
}

function twoChoices() {
  const message = "Send either 'tool_choice' or 'function_call', not both.";
  return contradiction("function_call", message);
}

/** True for a choice that lets the model decide. */
function isFree(given: Optional): boolean {
  return (given ?? null) === null || given === "auto";
}

function plainChoice(
  kind: "auto" | "none" | "required",
  path: (typeof FIELDS)[number],
  carrier: Carrier,
): Result<Choice> {
  const at: FieldRef = {
    field: kind === "required" ? "tool_choice=required" : `${path}=${kind}`,
    path,
  };
  return carrier.use(at) ?? success({ kind, at });
}

function toolChoice(choice: JsonObject, carrier: Carrier): Result<Choice> {
  if (choice.type === "allowed_tools") return allowedTools(choice, carrier);
  const tool = namedTool(choice, "tool_choice", carrier);
  if (!tool.ok) return tool;
  return success({
    kind: "named",
    at: { ...tool.value.at, path: "tool_choice" },
    tool: tool.value,
  });
}

/** Returns a tool that an object at a path names. */
function namedTool(choice: JsonObject, path: string, carrier: Carrier): Result<ChosenTool> {
  const { type } = choice;
  if (type !== "function" && type !== "custom") return unsupported(`${path}.type`);
  const field = type === "function"
    ? "tool_choice[function].function.name"
    : "tool_choice[custom].custom.name";
  const refused = carrier.use({ field, path, refusedPath: `${path}.type` }) ??
    carrier.unknown(choice, `tool_choice[${type}]`, path);
  return refused ?? parseName(choice[type], type, { field, path: `${path}.${type}` }, carrier);
}

/** Returns the tool that an object names, which is at `at`. */
function parseName(
  called: Optional,
  kind: ChosenTool["kind"],
  { field, path }: FieldRef,
  carrier: Carrier,
): Result<ChosenTool> {
  if (!isObject(called)) return wrongType(path, "an object");
  const unknown = carrier.unknown(called, "tool_choice[function].function", path);
  if (unknown !== null) return unknown;
  const name = requiredText(called.name, { field, path: `${path}.name` });
  return name.ok ? success({ kind, name: name.value.value, at: name.value.at }) : name;
}

/** Returns the choice of some of the tools (OpenAI API, allowed tools). */
function allowedTools(choice: JsonObject, carrier: Carrier): Result<Choice> {
  const path = "tool_choice.allowed_tools";
  const at: FieldRef = {
    field: "tool_choice[allowed_tools].allowed_tools.mode",
    path: "tool_choice",
    refusedPath: "tool_choice.type",
  };
  const refused = carrier.use(at) ??
    carrier.unknown(choice, "tool_choice[allowed_tools]", "tool_choice");
  if (refused !== null) return refused;
  const inner = choice.allowed_tools;
  if (!isObject(inner)) return wrongType(path, "an object");
  const other = carrier.unknown(inner, "tool_choice[allowed_tools].allowed_tools", path);
  if (other !== null) return other;
  const { mode } = inner;
  if (mode !== "auto" && mode !== "required") {
    return wrongValue(`${path}.mode`, "'auto' or 'required'");
  }
  const listAt: FieldRef = {
    field: "tool_choice[allowed_tools].allowed_tools.tools",
    path: `${path}.tools`,
  };
  const tools = mapObjects(
    inner.tools,
    listAt.path,
    (tool, inside) => namedTool(tool, inside, carrier),
  );
  return tools.ok ? success({ kind: "allowed", at, mode, tools: tools.value, listAt }) : tools;
}
