import { compilePrivacy } from "../../src/privacy/compile.ts";
import { search } from "../../src/privacy/search.ts";
import type { CallPrivacy, Rule } from "../../src/privacy/types.ts";
import { oneProvider } from "../support/gateway.ts";
import { parsedConfig } from "../support/parsed_config.ts";

/** A secret of tokens for tests. */
export const TEST_SECRET = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/** Returns a configuration of privacy rules, each as a flow mapping of YAML without its name. */
export function privacyConfig(rules: readonly string[], policy = ""): string {
  return `
privacy:
  secret: ${TEST_SECRET}
  rules:
${rules.map((rule, index) => `    - {name: r${index}, ${rule}}`).join("\n")}
  policies:
    - {name: p, rules: [${rules.map((_, index) => `r${index}`).join(", ")}]${policy}}
  default: p
`;
}

/** Returns a call with these rules. */
export function callWith(...rules: readonly string[]): CallPrivacy {
  const config = parsedConfig(oneProvider("http://up.test") + privacyConfig(rules));
  const compiled = compilePrivacy(config);
  const policy = compiled?.policyFor([]) ?? null;
  if (compiled === null || policy === null) throw new Error("no policy");
  return compiled.newCall(policy);
}

/** Returns compiled rules of both phases. */
export function rulesOf(...rules: readonly string[]): readonly Rule[] {
  const { policy: { request, response } } = callWith(...rules);
  return [...request, ...response];
}

/** Returns the values that a detector finds in a text. */
export function valuesOf(text: string, ...rules: readonly string[]): string[] {
  return search(text, rulesOf(...rules)).map(({ start, end }) => text.slice(start, end));
}
