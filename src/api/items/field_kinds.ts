import * as z from "zod";

// Schemas of known fields. They check types only: the upstream judges the values. A null counts as
// absent.

/** A string. */
export const text = z.string().nullish();

/** A number. */
export const number = z.number().nullish();

/** True or false. */
export const flag = z.boolean().nullish();

/** An object of any members. */
export const object = z.looseObject({}).nullish();

/** An array of any elements. */
export const list = z.array(z.unknown()).nullish();

/** An object whose members are checked elsewhere. */
export const map = z.record(z.string(), z.unknown()).nullish();

/**
 * A field of one of several types. Zod's error names the deepest branch of a union; this one names
 * all types.
 */
export function either(what: string, ...types: readonly ("string" | "array" | "object")[]) {
  const isOne = (value: unknown) => types.some((type) => type === typeName(value));
  return z.unknown().refine(isOne, { error: what }).nullish();
}

function typeName(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}
