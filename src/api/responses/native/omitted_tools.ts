import type { Refusal } from "../../../core/failure/failure.ts";
import { isObject, type JsonDocument, type JsonObject } from "../../../core/json/json.ts";
import type { Failed } from "../../../core/failure/result.ts";
import { changeMembers, parseElements, parseMembers, splice } from "../../../formats/edit.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import type { Target } from "../../../wires/wire.ts";

/** Types of the hosted tools that a target does not get, by the paths of the tools. */
export type OmittedTools = ReadonlyMap<string, string>;

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

/** Returns the tools that the route leaves out, because the provider does not declare them. */
export function omittedTools(
  request: JsonObject,
  { omitTools = [], provider: { settings: { capabilities } } }: Target,
): OmittedTools {
  const types = omitTools.filter((type) => !capabilities.hosted_tools.includes(type));
  if (types.length === 0) return NONE;
  return new Map(
    toolLists(request).flatMap(({ path, tools }) =>
      (Array.isArray(tools) ? tools : []).flatMap((tool, index) => {
        const type = isObject(tool) ? types.find((one) => one === tool.type) : undefined;
        return type === undefined ? [] : [[`${path}[${index}]`, type] as const];
      })
    ),
  );
}

/**
 * Returns the refusal of a choice that names a tool which is left out; null for any other choice.
 */
export function omittedChoiceProblem(
  request: JsonObject,
  omitted: OmittedTools,
): Failed<Refusal> | null {
  if (omitted.size === 0) return null;
  const types: readonly unknown[] = [...omitted.values()];
  const { tool_choice: choice } = request;
  const counts = toolLists(request).map(({ tools }) => Array.isArray(tools) ? tools.length : 0);
  if (choice === "required" && omitted.size === counts.reduce((sum, count) => sum + count, 0)) {
    return unsupported("tool_choice");
  }
  if (!isObject(choice)) return null;
  if (types.includes(choice.type)) return unsupported("tool_choice.type");
  const allowed = Array.isArray(choice.tools) ? choice.tools : [];
  const index = allowed.findIndex((one) => isObject(one) && types.includes(one.type));
  return index < 0 ? null : unsupported(`tool_choice.tools[${index}].type`);
}

/**
 * Returns the text of `tools` without those that are left out; null if none remains. Undefined if
 * all remain.
 */
export function remainingTools(
  { text, members }: Pick<JsonDocument, "text" | "members">,
  omitted: OmittedTools,
  path = "tools",
): string | null | undefined {
  const list = members.find(({ key }) => key === "tools");
  if (list === undefined) return undefined;
  const all = parseElements(text, list.start);
  const remaining = all.filter((_, index) => !omitted.has(`${path}[${index}]`));
  if (remaining.length === all.length) return undefined;
  if (remaining.length === 0) return null;
  return `[${remaining.map(({ start, end }) => text.slice(start, end)).join(",")}]`;
}

/** Returns the text of an input item without the tools that are left out. */
export function remainingItem(text: string, path: string, omitted: OmittedTools): string {
  if (omitted.size === 0) return text;
  const members = parseMembers(text);
  const tools = remainingTools({ text, members }, omitted, `${path}.tools`);
  return tools === undefined
    ? text
    : splice(text, changeMembers(text.indexOf("{"), members, [["tools", tools ?? "[]"]]));
}
