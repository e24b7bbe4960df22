import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import {
  isEmpty,
  missing,
  type Optional,
  unsupported,
  wrongType,
  wrongValue,
} from "../../../wires/chat_request/refusals.ts";
import type { Losses } from "../../../wires/chat_request/losses.ts";
import type { CalledFunction } from "../generate/items.ts";
import { flatName } from "./namespaces.ts";

/** A list of tools in the client's request. */
export interface ToolList {
  readonly tools: Optional;
  readonly path: string;
}

/** Chat tools with the path of each tool in the client's request. */
export interface ChatTools {
  readonly tools: readonly JsonObject[];
  readonly paths: readonly string[];
  /** True if a tool is left out. */
  readonly isOmitted: boolean;
  /** The functions of namespaces, by their flat names. */
  readonly namespaced: ReadonlyMap<string, CalledFunction>;
}

/**
 * Translates the client's tools into Chat functions, with flat names for functions of namespaces.
 * Hosted tools of the types in `omitted` are left out and lossy. Refuses every other tool type, and
 * two functions with the same flat name.
 */
export function chatTools(
  lists: readonly ToolList[],
  omitted: readonly string[],
  losses: Losses,
): Result<ChatTools> {
  const tools: JsonObject[] = [];
  const paths: string[] = [];
  const names = new Set<Optional>();
  const namespaced = new Map<string, CalledFunction>();
  let isOmitted = false;

  function add(tool: JsonObject, path: string, namespace: JsonObject | null): Result<null> {
    const made = translateFunction(tool, path, namespace);
    if (!made.ok) return made;
    if (names.has(made.value.name)) {
      return wrongValue(`${path}.name`, "different from that of any other function");
    }
    names.add(made.value.name);
    if (typeof namespace?.name === "string" && typeof tool.name === "string") {
      const { name } = tool;
      namespaced.set(flatName(namespace.name, name), { name, namespace: namespace.name });
    }
    // Only the model calls functions in Chat.
    const { allowed_callers: callers } = tool;
    if (Array.isArray(callers) && callers.length > 1) losses.add(`${path}.allowed_callers`);
    tools.push({ type: "function", function: made.value });
    paths.push(path);
    return success(null);
  }

  function addAll({ tools: list, path }: ToolList, namespace: JsonObject | null): Result<null> {
    for (const [index, tool] of listOf(list).entries()) {
      const at = `${path}[${index}]`;
      if (!isObject(tool)) return wrongType(at, "an object");
      if (omitted.some((type) => type === tool.type)) {
        losses.add(at);
        isOmitted = true;
        continue;
      }
      const isNamespace = tool.type === "namespace" && namespace === null;
      const added = isNamespace ? addNamespace(tool, at) : add(tool, at, namespace);
      if (!added.ok) return added;
    }
    return success(null);
  }

  function addNamespace(tool: JsonObject, path: string): Result<null> {
    if (typeof tool.name !== "string") return notText(tool.name, `${path}.name`);
    if (!Array.isArray(tool.tools)) return wrongType(`${path}.tools`, "an array");
    return addAll({ tools: tool.tools, path: `${path}.tools` }, tool);
  }

  for (const list of lists) {
    const added = addAll(list, null);
    if (!added.ok) return added;
  }
  return success({ tools, paths, isOmitted, namespaced });
}

function listOf(value: Optional): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** Types of the optional members of a function. */
const MEMBERS = {
  description: { what: "a string", isOne: (value: Optional) => typeof value === "string" },
  parameters: { what: "an object", isOne: (value: Optional) => isObject(value) },
  strict: { what: "a boolean", isOne: (value: Optional) => typeof value === "boolean" },
} as const;

function translateFunction(
  tool: JsonObject,
  path: string,
  namespace: JsonObject | null,
): Result<JsonObject> {
  const { name } = tool;
  if (tool.type !== "function") {
    return unsupported(
      `${path}.type`,
      "Only functions can be called over a chat provider. 'omit_tools' of the route leaves out hosted tools.",
    );
  }
  if (typeof name !== "string") return notText(name, `${path}.name`);
  if ((tool.defer_loading ?? false) !== false) return unsupported(`${path}.defer_loading`);
  if (!isEmpty(tool.output_schema)) return unsupported(`${path}.output_schema`);
  if (!isDirect(tool.allowed_callers)) return unsupported(`${path}.allowed_callers`);
  if ((tool.async ?? false) !== false) return unsupported(`${path}.async`);
  const wrong = Object.entries(MEMBERS)
    .find(([member, { isOne }]) => (tool[member] ?? null) !== null && !isOne(tool[member]));
  if (wrong !== undefined) return wrongType(`${path}.${wrong[0]}`, wrong[1].what);
  const description = [namespace?.description, tool.description]
    .filter((text) => typeof text === "string" && text !== "").join("\n\n");
  const { parameters, strict } = tool;
  return success({
    name: typeof namespace?.name === "string" ? flatName(namespace.name, name) : name,
    ...description !== "" && { description },
    ...(parameters ?? null) !== null && { parameters },
    ...(strict ?? null) !== null && { strict },
  });
}

/** True if `allowed_callers` includes the model itself, which is the only caller in Chat. */
function isDirect(callers: Optional): boolean {
  return isEmpty(callers) || (Array.isArray(callers) && callers.includes("direct"));
}

/**
 * Translates `tool_choice` into Chat; undefined if absent. Refuses a required call if tools are
 * left out and no other is there.
 */
export function chatToolChoice(
  value: Optional,
  hasTools: boolean,
  isOmitted: boolean,
): Result<JsonValue | undefined> {
  if ((value ?? null) === null) return success(undefined);
  if (value === "auto" || value === "none") return success(hasTools ? value : undefined);
  if (value === "required") {
    // The only tools that the model could call are left out.
    return isOmitted && !hasTools ? unsupported("tool_choice") : success(value);
  }
  if (!isObject(value)) return wrongValue("tool_choice", "'auto', 'none', 'required' or an object");
  switch (value.type) {
    case "function":
      return namedFunction(value, "tool_choice");
    case "allowed_tools":
      return allowedTools(value);
    default:
      return unsupported("tool_choice.type");
  }
}

function namedFunction({ name, namespace }: JsonObject, path: string): Result<JsonObject> {
  if (typeof name !== "string") return notText(name, `${path}.name`);
  const flat = typeof namespace === "string" ? flatName(namespace, name) : name;
  return success({ type: "function", function: { name: flat } });
}

function allowedTools({ mode, tools }: JsonObject): Result<JsonObject> {
  const path = "tool_choice.tools";
  if (!Array.isArray(tools)) return wrongType(path, "an array");
  const made: JsonObject[] = [];
  for (const [index, tool] of tools.entries()) {
    const at = `${path}[${index}]`;
    if (!isObject(tool)) return wrongType(at, "an object");
    if (tool.type !== "function") return unsupported(`${at}.type`);
    const named = namedFunction(tool, at);
    if (!named.ok) return named;
    made.push(named.value);
  }
  return success({ type: "allowed_tools", allowed_tools: { mode: mode ?? "auto", tools: made } });
}

function notText(value: Optional, path: string): Result<never> {
  return (value ?? null) === null ? missing(path) : wrongType(path, "a string");
}
