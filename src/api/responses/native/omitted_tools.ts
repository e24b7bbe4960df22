import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "../../../core/json/json.ts";
import type { Failed } from "../../../core/failure/result.ts";
import { changeMembers, parseElements, parseMembers, splice } from "../../../formats/edit.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import type { Target } from "../../../wires/wire.ts";

/** Types of the hosted tools that a target does not get, by the paths of the tools. */
export type OmittedTools = ReadonlyMap<string, string>;

/** Tools that the stored items of a request declare, as a target gets them. */
export interface SentTools {
  /** The items that declare tools, as the target gets them. */
  readonly items: readonly JsonObject[];
  /** Types of the hosted tools that it does not get. */
  readonly leftOut: readonly string[];
}

const NONE: OmittedTools = new Map();

/** Returns the lists of tools of a request, those that its input declares among them. */
export function toolLists(
  { tools, input }: JsonObject,
): readonly { readonly path: string; readonly tools: JsonObject[string] }[] {
  const items = Array.isArray(input) ? input : [];
  const declared = items.flatMap((item, index) =>
    isObject(item) && item.type === "additional_tools"
      ? [{ path: `input[${index}].tools`, tools: item.tools }]
      : []
  );
  return [{ path: "tools", tools }, ...declared];
}

/** The lists of tools of a request, and after each one those of its namespaces. */
function allLists(request: JsonObject): ReturnType<typeof toolLists> {
  return toolLists(request).flatMap((list) => [
    list,
    ...elementsOf(list.tools).flatMap((tool, index) =>
      isNamespace(tool) ? [{ path: `${list.path}[${index}].tools`, tools: tool.tools }] : []
    ),
  ]);
}

function elementsOf(tools: JsonObject[string]): readonly JsonValue[] {
  return Array.isArray(tools) ? tools : [];
}

function isNamespace(tool: JsonValue): tool is JsonObject {
  return isObject(tool) && tool.type === "namespace";
}

/**
 * Returns the tools that the route leaves out, because the provider does not declare them, those
 * in namespaces among them.
 */
export function omittedTools(
  request: JsonObject,
  { omitTools = [], provider: { settings: { capabilities } } }: Target,
): OmittedTools {
  const types = omitTools.filter((type) => !capabilities.hosted_tools.includes(type));
  if (types.length === 0) return NONE;
  return new Map(
    allLists(request).flatMap(({ path, tools }) =>
      elementsOf(tools).flatMap((tool, index) => {
        const type = isObject(tool) ? types.find((one) => one === tool.type) : undefined;
        return type === undefined ? [] : [[`${path}[${index}]`, type] as const];
      })
    ),
  );
}

/**
 * Returns the refusal of a choice that names a tool which is left out, of the request or of its
 * stored items; null for any other choice.
 */
export function omittedChoiceProblem(
  request: JsonObject,
  omitted: OmittedTools,
  stored: SentTools,
  { refuse }: Carrier,
): Failed | null {
  const types = new Set<unknown>([...omitted.values(), ...stored.leftOut]);
  if (types.size === 0) return null;
  const { tool_choice: choice } = request;
  if (choice === "required") {
    const lists = [...allLists(request), ...allLists({ input: [...stored.items] })];
    const called = lists.flatMap(({ tools }) => elementsOf(tools)).filter((one) =>
      !isNamespace(one)
    );
    return omitted.size === called.length ? refuse({ path: "tool_choice" }) : null;
  }
  if (!isObject(choice)) return null;
  if (types.has(choice.type)) return refuse({ path: "tool_choice.type" });
  const allowed = Array.isArray(choice.tools) ? choice.tools : [];
  const index = allowed.findIndex((one) => isObject(one) && types.has(one.type));
  return index < 0 ? null : refuse({ path: `tool_choice.tools[${index}].type` });
}

/**
 * Returns the text of `tools` without those that are left out; null if none remains. Undefined if
 * all remain.
 */
export function remainingTools(
  holder: Pick<JsonDocument, "text" | "members">,
  omitted: OmittedTools,
  path = "tools",
): string | null | undefined {
  return remainingElements(holder, path, (text, at) => {
    if (omitted.has(at)) return null;
    const members = parseMembers(text);
    const tools = remainingElements(
      { text, members },
      `${at}.tools`,
      (tool, inside) => omitted.has(inside) ? null : tool,
    );
    // A namespace without tools goes with them.
    if (tools === null) return null;
    return tools === undefined ? text : withTools(text, members, tools);
  });
}

/** Returns the text of an input item without the tools that are left out. */
export function remainingItem(text: string, path: string, omitted: OmittedTools): string {
  if (omitted.size === 0) return text;
  const members = parseMembers(text);
  const tools = remainingTools({ text, members }, omitted, `${path}.tools`);
  return tools === undefined ? text : withTools(text, members, tools ?? "[]");
}

/**
 * Returns the text of the member `tools` of an object, with what becomes of each element; an
 * element of null is left out. Null if none remains, undefined if all remain as they are.
 */
function remainingElements(
  { text, members }: Pick<JsonDocument, "text" | "members">,
  path: string,
  keep: (element: string, path: string) => string | null,
): string | null | undefined {
  const list = members.findLast(({ key }) => key === "tools");
  if (list === undefined) return undefined;
  const all = parseElements(text, list.start).map(({ start, end }) => text.slice(start, end));
  const kept = all.map((element, index) => keep(element, `${path}[${index}]`));
  if (kept.every((element, index) => element === all[index])) return undefined;
  const remaining = kept.filter((element) => element !== null);
  return remaining.length === 0 ? null : `[${remaining.join(",")}]`;
}

function withTools(text: string, members: JsonDocument["members"], tools: string): string {
  return splice(text, changeMembers(text.indexOf("{"), members, [["tools", tools]]));
}
