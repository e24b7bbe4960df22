import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { isFirstHalf, isSecondHalf } from "../../core/surrogates.ts";
import type { CheckBudget } from "../../prompt/response_promise.ts";
import { STEP_CHARS } from "./check_budget.ts";
import { FORMATS } from "./formats.ts";
import type { Patterns } from "./patterns.ts";

/** Returns true if a value is valid. False, too, once the steps of the budget are used up. */
export type ValueCheck = (value: JsonValue, budget: CheckBudget) => boolean;

/** Steps of the check of a format, which reads at most 320 characters. */
const FORMAT_STEP_COUNT = 32;

/** Number of characters of a text that are compared with a listed value in one step. */
const MEMBER_STEP_CHARS = 64;

/**
 * Distance of a quotient to a whole number: 0.3 is a multiple of 0.1 for JSON, not for binary
 * floating point.
 */
const MAX_MULTIPLE_ERROR = 1e-9;

const REFERENCE = /^#\/definitions\/d(\d+)$/;

const TYPE_CHECKS: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

/**
 * Returns the check of the first of some schemas that hold known keywords only. References are
 * `#/definitions/d<index>`, the index of a schema in the list.
 */
export function newValueCheck(schemas: readonly JsonObject[], patterns: Patterns): ValueCheck {
  const defined = schemas.map(checkOf);

  function checkOf(schema: JsonObject): ValueCheck {
    const checks = Object.entries(schema).flatMap(([key, given]) =>
      keywordCheck(schema, key, given ?? null)
    );
    return (value, budget) => {
      budget.steps -= 1;
      if (budget.levels === 0) budget.steps = -1;
      if (budget.steps < 0) return false;
      budget.levels -= 1;
      const isValid = checks.every((check) => check(value, budget));
      budget.levels += 1;
      return isValid;
    };
  }

  function keywordCheck(
    { properties }: JsonObject,
    key: string,
    given: JsonValue,
  ): readonly ValueCheck[] {
    switch (key) {
      case "type":
        return [typeCheck(given)];
      case "enum":
        return [memberCheck(Array.isArray(given) ? given : [])];
      case "const":
        return [memberCheck([given])];
      case "format":
        return typeof given === "string" ? [formatCheck(given)] : [];
      case "pattern":
        return typeof given === "string" ? [patternCheck(given, patterns)] : [];
      case "$ref":
        return [referenceCheck(given)];
      case "anyOf":
        return [anyCheck(given)];
      case "items":
        return isObject(given) ? [itemsCheck(checkOf(given))] : [];
      case "additionalProperties":
        // Each schema of an object has this keyword, and requires all its properties.
        return [propertiesCheck(isObject(properties) ? properties : {})];
      default:
        return typeof given === "number" ? [boundCheck(key, given)] : [];
    }
  }

  function referenceCheck(ref: JsonValue): ValueCheck {
    const [, at] = typeof ref === "string" ? REFERENCE.exec(ref) ?? [] : [];
    return (value, budget) => defined[Number(at)]?.(value, budget) ?? false;
  }

  function anyCheck(schemas: JsonValue): ValueCheck {
    const checks = (Array.isArray(schemas) ? schemas.filter(isObject) : []).map(checkOf);
    return (value, budget) => checks.some((check) => check(value, budget));
  }

  /** Returns the check of an object that has all these properties and no others. */
  function propertiesCheck(schemas: JsonObject): ValueCheck {
    const checks = new Map<string, ValueCheck>();
    for (const [name, schema] of Object.entries(schemas)) {
      if (isObject(schema)) checks.set(name, checkOf(schema));
    }
    return (value, budget) => {
      if (!isObject(value)) return true;
      const members = Object.entries(value);
      budget.steps -= members.length;
      return members.length === checks.size &&
        members.every(([name, one]) => checks.get(name)?.(one ?? null, budget) ?? false);
    };
  }

  return (value, budget) => defined[0]?.(value, budget) ?? false;
}

function typeCheck(given: JsonValue): ValueCheck {
  const names = Array.isArray(given) ? given : [given];
  const checks = names.flatMap((name) => {
    const check = typeof name === "string" ? TYPE_CHECKS[name] : undefined;
    return check === undefined ? [] : [check];
  });
  return (value) => checks.some((check) => check(value));
}

function memberCheck(values: readonly JsonValue[]): ValueCheck {
  const members = new Set(values);
  return (value, budget) => {
    // Equal texts are compared to their ends.
    if (typeof value === "string") budget.steps -= Math.floor(value.length / MEMBER_STEP_CHARS);
    return budget.steps >= 0 && members.has(value);
  };
}

function formatCheck(format: string): ValueCheck {
  const isValid = FORMATS[format];
  return (value, budget) => {
    if (typeof value !== "string" || isValid === undefined) return true;
    budget.steps -= FORMAT_STEP_COUNT;
    return isValid(value);
  };
}

function patternCheck(source: string, patterns: Patterns): ValueCheck {
  const pattern = patterns.parse(source);
  return (value, budget) => {
    if (typeof value !== "string" || typeof pattern === "string") return typeof value !== "string";
    return pattern.matches(value, budget);
  };
}

function itemsCheck(check: ValueCheck): ValueCheck {
  return (value, budget) => !Array.isArray(value) || value.every((item) => check(item, budget));
}

function boundCheck(key: string, bound: number): ValueCheck {
  switch (key) {
    case "minLength":
      return (value, budget) => typeof value !== "string" || lengthOf(value, budget) >= bound;
    case "maxLength":
      return (value, budget) => typeof value !== "string" || lengthOf(value, budget) <= bound;
    case "minItems":
      return (value) => !Array.isArray(value) || value.length >= bound;
    case "maxItems":
      return (value) => !Array.isArray(value) || value.length <= bound;
    case "minimum":
      return (value) => typeof value !== "number" || value >= bound;
    case "maximum":
      return (value) => typeof value !== "number" || value <= bound;
    case "exclusiveMinimum":
      return (value) => typeof value !== "number" || value > bound;
    case "exclusiveMaximum":
      return (value) => typeof value !== "number" || value < bound;
    case "multipleOf":
      return (value) => typeof value !== "number" || isMultiple(value, bound);
    default:
      return () => true;
  }
}

/** Returns the length of a text in code points; its count stops when the steps are used up. */
function lengthOf(text: string, budget: CheckBudget): number {
  budget.steps -= Math.ceil(text.length / STEP_CHARS);
  if (budget.steps < 0) return 0;
  let pairs = 0;
  for (let at = 0; at < text.length - 1; at++) {
    if (isFirstHalf(text.charCodeAt(at)) && isSecondHalf(text.charCodeAt(at + 1))) pairs += 1;
  }
  return text.length - pairs;
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(Math.round(quotient) - quotient) <= MAX_MULTIPLE_ERROR;
}
