import type { Refusal } from "../../core/failure/failure.ts";
import {
  isObject,
  type JsonObject,
  type JsonValue,
  MAX_LEVELS,
  numberOf,
} from "../../core/json/json.ts";
import { type Failed, refuse } from "../../core/failure/result.ts";

/**
 * The JSON types that a value may have, and the shape of its elements or members. Null counts as
 * absent.
 */
export interface Shape {
  readonly string?: true;
  readonly boolean?: true;
  readonly number?: "any" | "whole";
  /** The shape of every element; `any` for elements that are not checked. */
  readonly array?: Shape | "any";
  /** True if an array must have an element. */
  readonly isFilled?: true;
  /** The shapes of the known members of this object; any other member is not checked. */
  readonly object?: (value: JsonObject) => Fields;
  /** Keys of the members that an object must have. */
  readonly required?: readonly string[];
  /** The known values of `type`, if it decides the members. */
  readonly types?: readonly string[];
  /** The shape of every member, whatever its key. */
  readonly members?: Shape;
  /** True if listed items have null for an absent value, instead of no member. */
  readonly keepsNull?: true;
  /** The types as text, such as `a string or an array of parts`; absent for their plain names. */
  readonly expected?: string;
}

/** The shapes of members by their keys. */
export type Fields = Readonly<Record<string, Shape>>;

/** A string. */
export const text: Shape = { string: true };

/** True or false. */
export const flag: Shape = { boolean: true };

/** A number. */
export const number: Shape = { number: "any" };

/** A number without a fraction. */
export const whole: Shape = { number: "whole" };

/** An array of strings. */
export const texts: Shape = { array: text };

/** An object of any members. */
export const anyObject: Shape = objectOf({});

/** Returns the shape of an array whose elements have this shape. */
export function listOf(array: Shape): Shape {
  return { array };
}

/** Returns the shape of a member that listed items have even when it is null. */
export function orNull(shape: Shape): Shape {
  return { ...shape, keepsNull: true };
}

/** Returns the shape of an object with these members, of which some are required. */
export function objectOf(fields: Fields, ...required: readonly string[]): Shape {
  return { object: () => fields, ...required.length > 0 && { required } };
}

/** Returns the shape of an object whose members all have this shape. */
export function mapOf(members: Shape): Shape {
  return { ...anyObject, members };
}

/**
 * Returns the shape of an object whose `type` decides its members; unknown types are not checked.
 */
export function byType(variants: Readonly<Record<string, Fields>>): Shape {
  const typed = new Map(
    Object.entries(variants).map(([type, fields]) => [type, { type: text, ...fields }]),
  );
  const unknown = { type: orNull(text) };
  return {
    object: ({ type }) => (typeof type === "string" ? typed.get(type) : null) ?? unknown,
    types: Object.keys(variants),
  };
}

/**
 * Returns the refusal of the first value whose JSON type differs from its shape, or that is absent,
 * by its path below `path`; null if all match. Only types are checked, not values.
 */
export function typeProblem(
  shape: Shape,
  value: JsonValue | undefined,
  path = "",
): Failed<Refusal> | null {
  const wrong = wrongIn(shape, value, 0);
  if (wrong === null) return null;
  const at = wrong.steps.reduceRight<string>(pathBelow, path);
  switch (wrong.what) {
    case "type":
      return wrongField(at, wrong.shape.expected ?? expected(wrong.shape));
    case "absent":
      return requiredField(at);
    case "empty":
      return refuse("missing_required_parameter", `The field '${at}' must not be empty.`, at);
  }
}

/** Returns the refusal of a field with the wrong JSON type, in the words of the client API. */
export function wrongField(path: string | null, expected: string): Failed<Refusal> {
  return refuse("invalid_type", { kind: "unexpected", expected }, path);
}

/** Returns the refusal of a request without a required field, in the words of the client API. */
export function requiredField(path: string | null): Failed<Refusal> {
  return refuse("missing_required_parameter", { kind: "required" }, path);
}

/**
 * Returns an object without its known members that are null, on every level; the object itself if
 * it has none. Other members are unchanged.
 */
export function withoutNulls(shape: Shape, value: JsonObject): JsonObject {
  return membersWithoutNulls(shape, value, 0);
}

function membersWithoutNulls(shape: Shape, value: JsonObject, level: number): JsonObject {
  const fields = shape.object?.(value) ?? {};
  let own: JsonObject | null = null;
  for (const key of Object.keys(value)) {
    const known = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const member = value[key];
    if (known === undefined || (member === null && known.keepsNull)) continue;
    const clean = member === null ? undefined : cleaned(known, member, level + 1);
    if (clean === member) continue;
    own ??= { ...value };
    if (clean === undefined) delete own[key];
    else own[key] = clean;
  }
  return own ?? value;
}

function cleaned(shape: Shape, value: JsonValue | undefined, level: number): JsonValue | undefined {
  if (level > MAX_LEVELS) return value;
  const { array } = shape;
  if (Array.isArray(value)) {
    if (array === undefined || array === "any") return value;
    const elements = value.map((element) => cleaned(array, element, level + 1) ?? null);
    return elements.every((element, at) => element === value[at]) ? value : elements;
  }
  return isObject(value) ? membersWithoutNulls(shape, value, level) : value;
}

/** A value of the wrong type, or one that is required. */
interface Wrong {
  readonly what: "type" | "absent" | "empty";
  /** The expected shape of the value. */
  readonly shape: Shape;
  /** Keys and indexes that lead to the value, the last one first. */
  readonly steps: (string | number)[];
}

function wrongIn(shape: Shape, value: JsonValue | undefined, level: number): Wrong | null {
  // What is nested deeper is not translated, and no recursion may be as deep as a body.
  if (level > MAX_LEVELS) return null;
  if (Array.isArray(value)) {
    return shape.array ? wrongElement(shape, value, level) : is(shape);
  }
  if (isObject(value)) return shape.object ? wrongMember(shape, value, level) : is(shape);
  return hasType(shape, value) ? null : is(shape);
}

function is(shape: Shape, what: Wrong["what"] = "type"): Wrong {
  return { what, shape, steps: [] };
}

/** True if a value has a type of the shape. A number may be stored as its text. */
function hasType({ string, boolean, number }: Shape, value: JsonValue | undefined): boolean {
  if (typeof value === "string") return string === true;
  if (typeof value === "boolean") return boolean === true;
  const count = numberOf(value);
  // A number beyond a double, such as 1e999, is none for most readers.
  if (count === null || !Number.isFinite(count)) return false;
  return number === "any" || (number === "whole" && Number.isInteger(count));
}

function wrongElement(shape: Shape, values: readonly JsonValue[], level: number): Wrong | null {
  const { array = "any", isFilled } = shape;
  if (isFilled && values.length === 0) return is(shape, "empty");
  if (array === "any") return null;
  for (let index = 0; index < values.length; index++) {
    const wrong = wrongIn(array, values[index], level + 1);
    if (wrong !== null) return below(index, wrong);
  }
  return null;
}

function wrongMember(checked: Shape, value: JsonObject, level: number): Wrong | null {
  const { object, members, required } = checked;
  const fields = object?.(value) ?? {};
  if (required !== undefined) {
    for (const key of required) {
      if ((value[key] ?? null) === null) return below(key, is(checked, "absent"));
    }
  }
  for (const key in value) {
    const shape = Object.hasOwn(fields, key) ? fields[key] : members;
    const member = value[key] ?? null;
    if (shape === undefined || member === null) continue;
    const wrong = wrongIn(shape, member, level + 1);
    if (wrong !== null) return below(key, wrong);
  }
  return null;
}

function below(step: string | number, wrong: Wrong): Wrong {
  wrong.steps.push(step);
  return wrong;
}

/**
 * Longest key in a path of an error message. Keys of a map are chosen by the client and may be
 * long.
 */
const MAX_KEY_CHARS = 64;

/** Returns a path as clients write it, such as `input[0].content[1].text`. */
function pathBelow(path: string, step: string | number): string {
  if (typeof step === "number") return `${path}[${step}]`;
  const key = step.slice(0, MAX_KEY_CHARS);
  return path === "" ? key : `${path}.${key}`;
}

function expected({ string, boolean, number, array, object }: Shape): string {
  const types = [
    string ? ["a string"] : [],
    number === undefined ? [] : [number === "whole" ? "an integer" : "a number"],
    boolean ? ["a boolean"] : [],
    array === undefined ? [] : ["an array"],
    object === undefined ? [] : ["an object"],
  ];
  return types.flat().join(" or ");
}
