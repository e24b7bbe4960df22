import { isObject, isTooDeep, type JsonObject, parseJson } from "../../core/json/json.ts";
import { hasMoreItems } from "../../core/json/scan.ts";
import { newValueCheck, type ValueCheck } from "./value_check.ts";

/** The check of a strict schema, which is built when it is first used. */
export interface SchemaCheck {
  /** Number of schemas and `enum` values, to which the time to build it is proportional. */
  readonly nodes: number;
  /** Returns what a JSON text is instead of an object of the schema, as words; null if it is one. */
  problem(text: string): string | null;
}

/** Maximum number of members and elements of a JSON text that is checked. */
const MAX_CHECKED_ITEMS = 100_000;

/** Maximum number of steps of the check of one text, which take a few tenths of a second. */
const MAX_CHECK_STEPS = 2_000_000;

/** Maximum number of checks within each other, which a recursive schema could make any number. */
const MAX_CHECK_LEVELS = 1_000;

/** What a text is that takes too long to check. */
const TOO_LARGE = "too large to be checked";

/**
 * Returns the check of the first of some schemas that hold known keywords only. References are
 * `#/definitions/d<index>`, the index of a schema in the list. The time of a check is limited, because client
 * and model together choose what is checked.
 */
export function newSchemaCheck(
  schemas: readonly JsonObject[],
  nodes: number,
): SchemaCheck {
  let check: ValueCheck | null = null;

  return {
    nodes,
    problem(text) {
      if (hasMoreItems(text, MAX_CHECKED_ITEMS)) return TOO_LARGE;
      const value = parseJson(text);
      if (!isObject(value) || isTooDeep(value)) return "no JSON object";
      check ??= newValueCheck(schemas);
      const budget = { steps: MAX_CHECK_STEPS, levels: MAX_CHECK_LEVELS };
      const isValid = check(value, budget);
      if (budget.steps < 0) return TOO_LARGE;
      return isValid ? null : "no object of the schema";
    },
  };
}
