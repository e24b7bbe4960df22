import { isObject, type JsonObject } from "../../core/json/json.ts";

/** Maximum number of checks of one value in the response, over all alternatives together. */
const MAX_CHECKS_PER_VALUE = 1_000;

/** Maximum number of schemas within each other, with references. */
const MAX_REFERENCED_LEVELS = 128;

/** The most checks of one value, and the number of schemas within each other. */
interface Weight {
  readonly checks: number;
  readonly levels: number;
}

const REFERENCE = /^#\/definitions\/d(\d+)$/;

/**
 * Returns the problem of a schema that could make a check slow, as a sentence; null if it has none. A
 * recursive schema is one: with two alternatives in the recursion, the checks double with each level of
 * the value. So do references that are used by several alternatives, which the weight counts.
 */
export function weighSchema(root: JsonObject, definitions: readonly JsonObject[]): string | null {
  const known = new Map<number, Weight | "open">();
  let problem: string | null = null;

  function weightOfReference(at: number): Weight {
    const before = known.get(at);
    if (before === "open") {
      problem = "It refers to itself.";
      return { checks: 0, levels: 0 };
    }
    if (before !== undefined) return before;
    const schema = definitions[at];
    known.set(at, "open");
    const weight = schema === undefined ? { checks: 0, levels: 0 } : weightOf(schema);
    known.set(at, weight);
    return weight;
  }

  function weightOf(schema: JsonObject): Weight {
    if (problem !== null) return { checks: 0, levels: 0 };
    const { anyOf, $ref, properties, items } = schema;
    const inside = [
      ...isObject(properties) ? Object.values(properties).filter(isObject) : [],
      ...isObject(items) ? [items] : [],
    ].map(weightOf);
    const alternatives = (Array.isArray(anyOf) ? anyOf.filter(isObject) : []).map(weightOf);
    const [, at] = typeof $ref === "string" ? REFERENCE.exec($ref) ?? [] : [];
    if (at !== undefined) alternatives.push(weightOfReference(Number(at)));
    const own = 1 + (Array.isArray(schema.enum) ? schema.enum.length : 0);
    const checks = own + sumOf(alternatives) + mostOf(inside, "checks");
    const levels = 1 + Math.max(mostOf(inside, "levels"), mostOf(alternatives, "levels"));
    if (checks > MAX_CHECKS_PER_VALUE) {
      problem ??= `It has more than ${MAX_CHECKS_PER_VALUE} alternatives for one value.`;
    }
    if (levels > MAX_REFERENCED_LEVELS) {
      problem ??= `Its references are nested more than ${MAX_REFERENCED_LEVELS} levels deep.`;
    }
    return { checks, levels };
  }

  weightOf(root);
  // A definition that nothing refers to is built too.
  for (const at of definitions.keys()) weightOfReference(at);
  return problem;
}

function sumOf(weights: readonly Weight[]): number {
  return weights.reduce((sum, { checks }) => sum + checks, 0);
}

function mostOf(weights: readonly Weight[], of: keyof Weight): number {
  return weights.reduce((most, weight) => Math.max(most, weight[of]), 0);
}
