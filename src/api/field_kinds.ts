import { z } from "zod";

// Kinds of known fields. Types only: what a value may be is the upstream's to say. A null asks for nothing.

/** A string. */
export const text = z.string().nullish();

/** A number. */
export const number = z.number().nullish();

/** True or false. */
export const flag = z.boolean().nullish();

/** An object of any members. */
export const object = z.looseObject({}).nullish();

/** An array of anything. */
export const list = z.array(z.unknown()).nullish();

/** An object whose members are looked at one by one elsewhere. */
export const map = z.record(z.string(), z.unknown()).nullish();

/** One of several types. Zod names the deepest branch of a union; clients are told what the field may be. */
export function either(what: string, ...types: readonly ("string" | "array" | "object")[]) {
  const isOne = (value: unknown) => types.some((type) => type === typeName(value));
  return z.unknown().refine(isOne, { error: what }).nullish();
}

function typeName(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}
