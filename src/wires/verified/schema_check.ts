import {
  isObject,
  isTooDeep,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../core/json/json.ts";
import { countItems } from "../../core/json/scan.ts";
import type { CheckBudget, SchemaCheck } from "../../prompt/response_promise.ts";
import { STEP_CHARS } from "./check_budget.ts";
import type { Patterns } from "./patterns.ts";
import { newValueCheck, type ValueCheck } from "./value_check.ts";

/** Steps to parse a member or element of a JSON text, and to build the check of a schema. */
const ITEM_STEP_COUNT = 3, NODE_STEP_COUNT = 5;

/**
 * Returns the check of the first of some schemas that hold known keywords only. References are
 * `#/definitions/d<index>`, the index of a schema in the list. The time of a check is limited,
 * because client and model together choose what is checked.
 */
export function newSchemaCheck(
  schemas: readonly JsonObject[],
  nodes: number,
  patterns: Patterns,
): SchemaCheck {
  let check: ValueCheck | null = null;

  return {
    nodes,
    problem(text, budget) {
      const value = parseChecked(text, budget);
      if (!isObject(value) || isTooDeep(value)) return "no JSON object";
      if (check === null) budget.steps -= NODE_STEP_COUNT * nodes;
      check ??= newValueCheck(schemas, patterns);
      return check(value, budget) ? null : "no object of the schema";
    },
    restored(restore) {
      const original = parseJson(restore(JSON.stringify(schemas)));
      const isList = Array.isArray(original) && original.every(isObject);
      const own = newSchemaCheck(isList ? original : schemas, nodes, patterns);
      return { ...own, problem: (text, budget) => own.problem(restore(text), budget) };
    },
  };
}

/**
 * Parses a text of a response; undefined if it is no JSON, or if the steps of the budget do not
 * suffice.
 */
export function parseChecked(text: string, budget: CheckBudget): JsonValue | undefined {
  budget.steps -= Math.ceil(text.length / STEP_CHARS);
  if (budget.steps < 0) return undefined;
  budget.steps -= ITEM_STEP_COUNT * countItems(text, budget.steps / ITEM_STEP_COUNT).count;
  return budget.steps < 0 ? undefined : parseJson(text);
}
