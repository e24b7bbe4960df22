import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import { refuse, type Result, success } from "../../../core/failure/result.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import type {
  Choice,
  ChosenTool,
  CustomTool,
  FieldRef,
  FunctionTool,
  Given,
  Tool,
} from "../../../prompt/prompt.ts";
import { allIn, flagOf, mapObjects, requiredText, textOf } from "../../../prompt/read.ts";
import {
  isEmpty,
  missing,
  type Optional,
  unsupported,
  wrongType,
  wrongValue,
} from "../../../prompt/refusals.ts";
import { MAX_OWN_NAME_CHARS } from "../../generate/tool_names.ts";
import type { CalledTool } from "../generate/items.ts";
import { grammarFormat } from "../../../prompt/chat/parse_tools.ts";
import { flatNameIn } from "./namespaces.ts";

/** A list of tools in the client's request. */
export interface ToolList {
  readonly tools: Optional;
  readonly path: string;
  /** True for tools of an earlier turn, which the client cannot change; absent for others. */
  readonly isStored?: boolean;
}

/** The tools of a request. */
export interface GivenTools {
  readonly tools: readonly Tool[];
  /** True if a tool is left out. */
  readonly isOmitted: boolean;
  /** The tools of namespaces, by their flat names. */
  readonly namespaced: ReadonlyMap<string, CalledTool>;
}

/**
 * Returns the functions and custom tools of the client, with flat names for those of namespaces.
 * Hosted tools that the route leaves out are lossy. Refuses every other tool type, and two tools
 * with the same flat name.
 */
export function parseTools(lists: readonly ToolList[], carrier: Carrier): Result<GivenTools> {
  const tools: Tool[] = [];
  let repeatedChars = 0;
  const names = new Set<string>();
  const namespaced = new Map<string, CalledTool>();
  let isOmitted = false;

  function add(tool: JsonObject, path: string, namespace: JsonObject | null): Result<null> {
    if (namespace !== null) {
      const { description } = namespace;
      repeatedChars += typeof description === "string" ? description.length : 0;
      if (repeatedChars > MAX_REPEATED_CHARS) return tooManyRepeated(path);
      const isLong = typeof tool.name === "string" && tool.name.length > MAX_OWN_NAME_CHARS;
      if (isLong) return tooLongName(path);
    }
    const made = parseTool(tool, path, namespace, carrier);
    if (!made.ok) return made;
    const { name } = made.value;
    if (names.has(name.value)) {
      return wrongValue(name.at.path, "different from that of any other tool");
    }
    names.add(name.value);
    if (typeof namespace?.name === "string" && typeof tool.name === "string") {
      namespaced.set(name.value, { name: tool.name, namespace: namespace.name });
    }
    // Only the model calls functions of a prompt.
    const { allowed_callers: callers } = tool;
    if (Array.isArray(callers) && callers.length > 1) carrier.lose(`${path}.allowed_callers`);
    tools.push(made.value);
    return success(null);
  }

  function addAll(
    { tools: list, path, isStored = false }: ToolList,
    namespace: JsonObject | null,
  ): Result<unknown> {
    return mapObjects(Array.isArray(list) ? list : [], path, (tool, at) => {
      if (carrier.omits(tool.type) || isStored && !isCarried(tool)) {
        carrier.lose(at);
        isOmitted = true;
        return success(null);
      }
      const isNamespace = tool.type === "namespace" && namespace === null;
      return isNamespace ? addNamespace(tool, at, isStored) : add(tool, at, namespace);
    });
  }

  function addNamespace(tool: JsonObject, path: string, isStored: boolean): Result<unknown> {
    const name = requiredText(tool.name, nameAt(path));
    if (!name.ok) return name;
    if (name.value.value.length > MAX_OWN_NAME_CHARS) return tooLongName(path);
    if (!Array.isArray(tool.tools)) return wrongType(`${path}.tools`, "an array");
    return addAll({ tools: tool.tools, path: `${path}.tools`, isStored }, tool);
  }

  for (const list of lists) {
    const added = addAll(list, null);
    if (!added.ok) return added;
  }
  return success({ tools, isOmitted, namespaced });
}

/** Maximum length of the descriptions of namespaces together, each as often as it has tools. */
const MAX_REPEATED_CHARS = 1024 * 1024;

function tooManyRepeated(path: string): Result<never> {
  const rule = "brings the descriptions of namespaces, which each of their tools gets, to more " +
    `than ${MAX_REPEATED_CHARS} characters; send shorter ones`;
  return refuse("request_too_large", { kind: "rule", rule }, path);
}

function tooLongName(path: string): Result<never> {
  return wrongValue(`${path}.name`, `a text of at most ${MAX_OWN_NAME_CHARS} characters`);
}

/** True for a tool that every target gets. */
function isCarried({ type }: JsonObject): boolean {
  return type === "function" || type === "custom" || type === "namespace";
}

function nameAt(path: string): FieldRef {
  return { field: "tools[function].function.name", path: `${path}.name` };
}

function parseTool(
  tool: JsonObject,
  path: string,
  namespace: JsonObject | null,
  carrier: Carrier,
): Result<Tool> {
  const { type } = tool;
  if (type !== "function" && type !== "custom") {
    return unsupported(
      `${path}.type`,
      "Only functions and custom tools can be called over a chat provider. 'omit_tools' of the route leaves out hosted tools.",
    );
  }
  const at: FieldRef = { field: `tools[${type}]`, path, refusedPath: `${path}.type` };
  const named = requiredText(tool.name, nameAt(path));
  const refused = named.ok ? carrier.use(at) ?? asyncProblem(tool, path) : named;
  if (refused !== null) return refused;
  const descriptionAt = {
    field: "tools[function].function.description",
    path: `${path}.description`,
  } as const;
  const read = allIn({ name: named, description: textOf(tool.description, descriptionAt) });
  if (!read.ok) return read;
  const { name, description } = read.value;
  const described = [namespace?.description, description?.value]
    .filter((text) => typeof text === "string" && text !== "").join("\n\n");
  const head = {
    at,
    name: { ...name, value: flatNameIn(namespace?.name, name.value) },
    description: described === "" ? null : described,
  };
  return type === "custom" ? parseCustom(tool, head) : parseFunction(tool, head, carrier);
}

/** Members that each tool has. */
interface ToolHead {
  readonly at: FieldRef;
  readonly name: Given<string>;
  readonly description: string | null;
}

/** Returns a custom tool (Responses API, custom tools). */
function parseCustom({ format = null }: JsonObject, head: ToolHead): Result<CustomTool> {
  const path = `${head.at.path}.format`;
  if (format === null) return success({ kind: "custom", ...head, format });
  if (!isObject(format)) return wrongType(path, "an object");
  if (format.type === "text") {
    return success({ kind: "custom", ...head, format: { kind: "text" } });
  }
  if (format.type !== "grammar") return unsupported(`${path}.type`);
  const { definition, syntax } = format;
  const definitionPath = `${path}.definition`;
  if (typeof definition !== "string") return missing(definitionPath);
  if (typeof syntax !== "string") return missing(`${path}.syntax`);
  const grammar = grammarFormat(path, { definition, syntax, definitionPath });
  return success({ kind: "custom", ...head, format: grammar });
}

function parseFunction(
  tool: JsonObject,
  head: ToolHead,
  carrier: Carrier,
): Result<FunctionTool> {
  const { at: { path } } = head;
  const rows = "tools[function].function";
  const parametersAt: FieldRef = { field: `${rows}.parameters`, path: `${path}.parameters` };
  const strictAt: FieldRef = { field: `${rows}.strict`, path: `${path}.strict` };
  const { parameters = null } = tool;
  const read = allIn({
    parameters: parameters === null || isObject(parameters)
      ? success({ value: parameters, at: parametersAt })
      : wrongType(parametersAt.path, "an object"),
    strict: flagOf(tool.strict, strictAt),
  });
  if (!read.ok) return read;
  const { strict } = read.value;
  const lost = (parameters === null ? null : carrier.use(parametersAt)) ??
    (strict?.value === true ? carrier.use(strictAt) : null);
  return lost ?? success({ kind: "function", ...head, ...read.value, cache: null });
}

/**
 * Returns the refusal of a tool that is not called by the model and at once; otherwise null.
 */
function asyncProblem(tool: JsonObject, path: string) {
  if ((tool.defer_loading ?? false) !== false) return unsupported(`${path}.defer_loading`);
  if (!isEmpty(tool.output_schema)) return unsupported(`${path}.output_schema`);
  if (!isDirect(tool.allowed_callers)) return unsupported(`${path}.allowed_callers`);
  return (tool.async ?? false) === false ? null : unsupported(`${path}.async`);
}

/** True if `allowed_callers` includes the model itself, which is the only caller in a prompt. */
function isDirect(callers: Optional): boolean {
  return isEmpty(callers) || (Array.isArray(callers) && callers.includes("direct"));
}

/**
 * Returns the choice of the request. Some upstreams refuse tool options in a request without tools,
 * so that one which changes nothing is not sent. Refuses a required call if tools are left out and
 * no other is there.
 */
export function parseChoice(
  given: JsonValue,
  { tools, isOmitted }: GivenTools,
  carrier: Carrier,
): Result<Choice> {
  const path = "tool_choice";
  const hasTools = tools.length > 0;
  if (given === null) return success({ kind: "unset" });
  if (given === "auto" || given === "none" || given === "required") {
    if (!hasTools && given !== "required") return success({ kind: "unset" });
    // The only tools that the model could call are left out.
    if (isOmitted && !hasTools) return unsupported(path);
    const at: FieldRef = { field: `tool_choice=${given}`, path };
    return carrier.use(at) ?? success({ kind: given, at });
  }
  if (!isObject(given)) return wrongValue(path, "'auto', 'none', 'required' or an object");
  if (given.type === "allowed_tools") return allowedTools(given, carrier);
  const tool = chosenTool(given, path);
  if (!tool.ok) return tool;
  const at: FieldRef = { ...tool.value.at, path, refusedPath: `${path}.type` };
  return carrier.use(at) ?? success({ kind: "named", at, tool: tool.value });
}

function chosenTool(given: JsonObject, path: string): Result<ChosenTool> {
  const { type } = given;
  if (type !== "function" && type !== "custom") return unsupported(`${path}.type`);
  const field = type === "function"
    ? "tool_choice[function].function.name"
    : "tool_choice[custom].custom.name";
  const name = requiredText(given.name, { field, path: `${path}.name` });
  if (!name.ok) return name;
  const { value, at } = name.value;
  return success({ kind: type, name: flatNameIn(given.namespace, value), at });
}

function allowedTools({ mode: given, tools }: JsonObject, carrier: Carrier): Result<Choice> {
  const rows = "tool_choice[allowed_tools].allowed_tools";
  const path = "tool_choice";
  const at: FieldRef = { field: `${rows}.mode`, path, refusedPath: `${path}.type` };
  const listAt: FieldRef = { field: `${rows}.tools`, path: `${path}.tools` };
  if (!Array.isArray(tools)) return wrongType(listAt.path, "an array");
  const chosen = mapObjects(tools, listAt.path, chosenTool);
  if (!chosen.ok) return chosen;
  const mode = given ?? "auto";
  if (mode !== "auto" && mode !== "required") {
    return wrongValue(`${path}.mode`, "'auto' or 'required'");
  }
  return carrier.use(at) ?? success({ kind: "allowed", at, mode, tools: chosen.value, listAt });
}
