import type { Refusal } from "../../../core/failure/failure.ts";
import { isObject, type JsonDocument, type JsonObject } from "../../../core/json/json.ts";
import type { Failed } from "../../../core/failure/result.ts";
import { parseElements } from "../../../formats/edit.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import type { Target } from "../../../wires/wire.ts";

/** Types of the hosted tools that a target does not get, by their index in `tools`. */
export type OmittedTools = ReadonlyMap<number, string>;

const NONE: OmittedTools = new Map();

/** Returns the tools that the route leaves out, because the provider does not declare them. */
export function omittedTools(
  { tools }: JsonObject,
  { omitTools = [], provider: { settings: { capabilities } } }: Target,
): OmittedTools {
  if (omitTools.length === 0 || !Array.isArray(tools)) return NONE;
  const types = omitTools.filter((type) => !capabilities.hosted_tools.includes(type));
  return new Map(tools.flatMap((tool, index) => {
    const type = isObject(tool) ? types.find((one) => one === tool.type) : undefined;
    return type === undefined ? [] : [[index, type] as const];
  }));
}

/**
 * Returns the refusal of a choice that names a tool which is left out; null for any other choice.
 */
export function omittedChoiceProblem(
  { tools, tool_choice: choice }: JsonObject,
  omitted: OmittedTools,
): Failed<Refusal> | null {
  if (omitted.size === 0) return null;
  const types: readonly unknown[] = [...omitted.values()];
  if (choice === "required" && Array.isArray(tools) && omitted.size === tools.length) {
    return unsupported("tool_choice");
  }
  if (!isObject(choice)) return null;
  if (types.includes(choice.type)) return unsupported("tool_choice.type");
  const allowed = Array.isArray(choice.tools) ? choice.tools : [];
  const index = allowed.findIndex((one) => isObject(one) && types.includes(one.type));
  return index < 0 ? null : unsupported(`tool_choice.tools[${index}].type`);
}

/** Returns the text of `tools` without those that are left out; null if none remains. */
export function remainingTools({ text, members }: JsonDocument, omitted: OmittedTools) {
  const list = members.find(({ key }) => key === "tools");
  const remaining = parseElements(text, list?.start).filter((_, index) => !omitted.has(index));
  if (remaining.length === 0) return null;
  return `[${remaining.map(({ start, end }) => text.slice(start, end)).join(",")}]`;
}
