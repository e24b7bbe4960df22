import { z } from "zod";
import { DURATION, parseDuration } from "./units.ts";

/** Text that reads as a YAML number; blanks around it do not count. */
export const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;
/** Text that reads as the YAML boolean true. */
export const TRUE = /^(?:true|True|TRUE)$/;

/** Text that reads as the YAML boolean false. */
export const FALSE = /^(?:false|False|FALSE)$/;

/** The problem of text that no header can carry. */
export const NOT_A_HEADER_VALUE = "must be a header value: one line of Latin-1 characters";

// RFC 9110, section 5.6.2.
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

// Tab is the one control character that a field value may hold; fetch takes Latin-1 and no more.
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Text that reads as a YAML number, as that number: what an expanded variable gives. The rest as it is. */
export function readNumber(value: unknown): unknown {
  if (typeof value !== "string" || !NUMBER.test(value.trim())) return value;
  return Number(value.trim());
}

/** Text that reads as a YAML boolean, as that boolean. The rest as it is. */
export function readBoolean(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const word = value.trim();
  return TRUE.test(word) ? true : FALSE.test(word) ? false : value;
}

/** A mapping with these keys and no others. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape);
}

/** True or false, also as text from a variable. */
export function flag() {
  return z.preprocess(readBoolean, z.boolean());
}

/** A whole number within the limits, also as text from a variable. */
export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  return z.preprocess(readNumber, z.int().min(least).max(most));
}

/** A finite number within the limits, also as text from a variable. */
export function decimal(least: number, most?: number) {
  const number = z.number().min(least);
  return z.preprocess(readNumber, most === undefined ? number : number.max(most));
}

/** Text with something in it. */
export function text() {
  return z.string().regex(/\S/, { error: "must not be blank" });
}

/** A duration of at least so many milliseconds, as milliseconds. */
export function duration(least: number) {
  return z.string({ error: "must be a duration with a unit, such as 30s" })
    .regex(DURATION, {
      error: "must be a duration made of h, m, s and ms in this order, such as 30s or 1h30m",
    })
    .transform((written, context) => {
      const milliseconds = parseDuration(written) ?? 0;
      if (milliseconds < least) {
        context.addIssue({
          code: "custom",
          message: least === 1 ? "must be longer than 0s" : `must be at least ${least}ms`,
        });
      }
      return milliseconds;
    });
}

/** The name of an HTTP header. */
export function headerName() {
  return z.string().regex(TOKEN, { error: "is not a valid header name" });
}

/** True if a header can carry the text. */
export function isHeaderValue(written: string): boolean {
  return HEADER_VALUE.test(written);
}

/** The value of an HTTP header. */
export function headerValue() {
  return z.string().regex(HEADER_VALUE, { error: NOT_A_HEADER_VALUE });
}
