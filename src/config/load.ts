import { dirname } from "node:path";
import { checkTree } from "./check.ts";
import type { Variables } from "./expand.ts";
import { fillVariables, readText } from "./files.ts";
import { pathText } from "./problems.ts";
import { routingWarnings } from "./routing_rules.ts";
import type { Config } from "./schema.ts";
import { readSource } from "./source.ts";

/** A configuration, or everything that is wrong with the file: one line each, never a value from it. */
export type Loaded =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * The configuration in a file. Variables come from the environment, then from `.env` beside the
 * file, then from `.env` in the working directory. A file that cannot be read is a problem.
 */
export async function load(
  path: string,
  environment: Readonly<Record<string, string>>,
): Promise<Loaded> {
  const file = await readText(path);
  if (!file.ok) {
    return { ok: false, problems: [`The configuration file ${path} ${file.trouble}.`] };
  }
  const { variables, warnings } = await fillVariables(environment, [dirname(path), "."]);
  const loaded = parseConfig(file.text, variables);
  return loaded.ok ? { ...loaded, warnings: [...warnings, ...loaded.warnings] } : loaded;
}

/** The configuration in a text: YAML or JSON, with these variables for `${NAME}`. Asks nothing else. */
export function parseConfig(text: string, variables: Variables): Loaded {
  const source = readSource(text, variables);
  const checked = checkTree(source.value, source.problems);
  if (!checked.ok) {
    // A variable that is not set is often the reason for what is wrong in its place.
    const places = new Set(checked.problems.map(({ path }) => pathText(path)));
    const reasons = source.warnings.filter(({ path }) => places.has(pathText(path)));
    return { ok: false, problems: source.lines([...checked.problems, ...reasons]) };
  }
  const warnings = source.lines([...source.warnings, ...routingWarnings(checked.config)]);
  return { ok: true, config: checked.config, warnings };
}
