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

const NO_WEIGHT: Weight = { checks: 0, levels: 0 };

/**
 * Returns the problem of schemas that could make a check slow, as a sentence; null if they have
 * none. References that are used by several alternatives make the checks of a value double, which
 * the weight counts. A recursive schema is weighed once; the steps and levels of its check are
 * limited.
 */
export function weighSchema(schemas: readonly JsonObject[]): string | null {
  if (leadsNowhere(schemas)) return "It refers to itself without a property or an element between.";
  const known = new Map<number, Weight>();
  let problem: string | null = null;

  function weightOfReference(at: number): Weight {
    const before = known.get(at);
    if (before !== undefined) return before;
    const schema = schemas[at];
    known.set(at, NO_WEIGHT);
    const weight = schema === undefined ? NO_WEIGHT : weightOf(schema);
    known.set(at, weight);
    return weight;
  }

  function weightOf(schema: JsonObject): Weight {
    if (problem !== null) return NO_WEIGHT;
    const { anyOf, properties, items } = schema;
    const inside = [
      ...isObject(properties) ? Object.values(properties).filter(isObject) : [],
      ...isObject(items) ? [items] : [],
    ].map(weightOf);
    const alternatives = (Array.isArray(anyOf) ? anyOf.filter(isObject) : []).map(weightOf);
    const at = referenceOf(schema);
    if (at !== null) alternatives.push(weightOfReference(at));
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

  // A definition that nothing refers to is built too.
  for (const at of schemas.keys()) weightOfReference(at);
  return problem;
}

/** True if a check of one value would come back to the same schema for the same value. */
function leadsNowhere(schemas: readonly JsonObject[]): boolean {
  const known = new Map<number, "open" | "done">();

  function comesBack(at: number): boolean {
    const before = known.get(at);
    if (before !== undefined) return before === "open";
    known.set(at, "open");
    const schema = schemas[at];
    const isBack = schema !== undefined && referencesFor(schema).some(comesBack);
    known.set(at, "done");
    return isBack;
  }

  return [...schemas.keys()].some(comesBack);
}

/** Returns the schemas that a schema refers to for the same value. */
function referencesFor(schema: JsonObject): readonly number[] {
  const { anyOf } = schema;
  const alternatives = Array.isArray(anyOf) ? anyOf.filter(isObject).flatMap(referencesFor) : [];
  const at = referenceOf(schema);
  return at === null ? alternatives : [...alternatives, at];
}

function referenceOf({ $ref }: JsonObject): number | null {
  const [, at] = typeof $ref === "string" ? REFERENCE.exec($ref) ?? [] : [];
  return at === undefined ? null : Number(at);
}

function sumOf(weights: readonly Weight[]): number {
  return weights.reduce((sum, { checks }) => sum + checks, 0);
}

function mostOf(weights: readonly Weight[], of: keyof Weight): number {
  return weights.reduce((most, weight) => Math.max(most, weight[of]), 0);
}
