import type { Report } from "./report.ts";
import { itemsOf, memberOf, membersOf, numberOf, textOf, type Tree, truthOf } from "./source.ts";
import type { Written } from "./written_file.ts";

/** A parameter of an entry for the named model, and the value of the source. */
export interface Parameter {
  readonly value: Written;
  readonly tree: Tree;
  readonly note: string;
}

/** Members of an entry that are parameters of named models here. */
const PARAMETERS: Readonly<Record<string, string>> = {
  temperature: "temperature",
  top_p: "top_p",
  max_tokens: "max_tokens",
  max_completion_tokens: "max_tokens",
  reasoning_effort: "effort",
  stop: "stop",
  parallel_tool_calls: "parallel_tool_calls",
  service_tier: "service_tier",
  verbosity: "verbosity",
};

/** Returns the parameters of an entry by their names; reports what its `extra_body` has besides. */
export function readParameters(params: Tree, report: Report): ReadonlyMap<string, Parameter> {
  const found = new Map<string, Parameter>();
  const extra = memberOf(params, "extra_body");
  const all = [
    ...membersOf(params).map(([key, tree]) => [key, tree, ""] as const),
    ...membersOf(extra).map(([key, tree]) =>
      [key, tree, "a default here: the value of the request wins"] as const
    ),
  ];
  for (const [key, tree, note] of all) {
    const name = Object.hasOwn(PARAMETERS, key) ? PARAMETERS[key] : undefined;
    const value = name === undefined ? null : parameterValue(name, tree);
    if (name === undefined || value === null || found.has(name)) continue;
    found.set(name, { value, tree, note });
  }
  if (extra?.kind !== "mapping") report.notRead(params, ["extra_body"]);
  const taken = new Set([...found.values()].map(({ tree }) => tree));
  for (const [, tree] of membersOf(extra)) {
    if (!taken.has(tree)) report.missing(tree, "no parameter of named models");
  }
  return found;
}

/** Returns the members of an entry that could be parameters, without those that are. */
export function unreadParameters(
  params: Tree,
  parameters: ReadonlyMap<string, Parameter>,
): readonly string[] {
  const taken = new Set([...parameters.values()].map(({ tree }) => tree));
  return membersOf(params).flatMap(([key, tree]) =>
    Object.hasOwn(PARAMETERS, key) && !taken.has(tree) ? [key] : []
  );
}

/** Returns a parameter as named models have it; null if it is invalid there. */
function parameterValue(name: string, tree: Tree): Written | null {
  switch (name) {
    case "temperature":
      return within(numberOf(tree), 0, 2);
    case "top_p":
      return within(numberOf(tree), 0, 1);
    case "max_tokens": {
      const number = numberOf(tree);
      return Number.isSafeInteger(number) ? within(number, 1, Infinity) : null;
    }
    case "parallel_tool_calls":
      return truthOf(tree);
    case "stop": {
      const texts = itemsOf(tree).map(textOf).filter((text) => text !== null);
      return texts.length === itemsOf(tree).length ? texts.map(escaped) : null;
    }
    default: {
      const text = textOf(tree);
      return text !== null && /^[a-z][a-z_]*$/.test(text) ? text : null;
    }
  }
}

function escaped(text: string): string {
  return text.replaceAll("${", () => "$${");
}

function within(value: number | null, min: number, max: number): number | null {
  return value !== null && value >= min && value <= max ? value : null;
}
