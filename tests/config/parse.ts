import { parseConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";
import type { Variables } from "../../src/config/expand.ts";

/** The smallest routing that is valid with a provider of this ID; ends with a line break. */
export function routingOver(id: string): string {
  return `routing:\n  routes:\n    - name: all\n      targets:\n        - provider: ${id}\n`;
}

/** A file with one provider, whose keys are these lines. */
export function withProvider(id: string, ...keys: readonly string[]): string {
  return `providers:\n  ${id}:\n${keys.map((key) => `    ${key}\n`).join("")}${routingOver(id)}`;
}

/** A valid file, preceded by these lines. */
export function withSection(...lines: readonly string[]): string {
  const valid = `providers:\n  openai:\n    api_key: k\n${routingOver("openai")}`;
  return `${lines.map((line) => `${line}\n`).join("")}${valid}`;
}

/** The configuration in a text that must be valid. */
export function configOf(text: string, variables: Variables = {}): Config {
  const loaded = parseConfig(text, variables);
  if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
  return loaded.config;
}

/** Returns the problems of a text. */
export function problemsOf(text: string, variables: Variables = {}): readonly string[] {
  const loaded = parseConfig(text, variables);
  return loaded.ok ? [] : loaded.problems;
}

/** The warnings about a text that must be valid. */
export function warningsOf(text: string, variables: Variables = {}): readonly string[] {
  const loaded = parseConfig(text, variables);
  if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
  return loaded.warnings;
}
