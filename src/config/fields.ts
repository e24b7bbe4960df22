import * as z from "zod";
import { FIELD_NAME, FIELD_VALUE } from "../core/header_fields.ts";
import { DURATION, parseDuration } from "./units.ts";

/** Pattern of text that is a YAML number; the caller trims blanks. */
export const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;
/** Pattern of the YAML boolean true. */
export const TRUE = /^(?:true|True|TRUE)$/;

/** Pattern of the YAML boolean false. */
export const FALSE = /^(?:false|False|FALSE)$/;

/** Problem text for a value that is not allowed in a header. */
export const NOT_A_HEADER_VALUE = "must be a header value: one line of Latin-1 characters";

/**
 * Returns text that is a YAML number as a number (variables expand to text); any other value
 * unchanged.
 */
export function parseNumber(value: unknown): unknown {
  if (typeof value !== "string" || !NUMBER.test(value.trim())) return value;
  return Number(value.trim());
}

/** Returns text that is a YAML boolean as a boolean; any other value unchanged. */
export function parseBoolean(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const word = value.trim();
  return TRUE.test(word) ? true : FALSE.test(word) ? false : value;
}

/** Returns the schema of a mapping with exactly these keys. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape);
}

/** Returns the schema of a boolean, also as text from a variable. */
export function flag() {
  return z.preprocess(parseBoolean, z.boolean());
}

/** Returns the schema of a whole number within the limits, also as text from a variable. */
export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  return z.preprocess(parseNumber, z.int().check(z.gte(min), z.lte(max)));
}

/** Pattern of the `host` of a listener. */
export const LISTEN_HOST = /^[A-Za-z0-9._:-]+$/;

/** Returns the schemas of the address of a listener, by their keys. */
export function listener(defaultPort: number) {
  return {
    host: z.string().regex(LISTEN_HOST, { error: "must be an IP address or a host name" })
      .default("127.0.0.1").describe("IP address or host name to listen on."),
    port: integer(0, 65_535).prefault(defaultPort)
      .describe("Port to listen on; 0 selects a free port."),
  };
}

/** Returns the schema of a finite number within the limits, also as text from a variable. */
export function decimal(min: number, max?: number) {
  const number = z.number().min(min);
  return z.preprocess(parseNumber, max === undefined ? number : number.max(max));
}

/** Returns the schema of text that is not blank. */
export function text() {
  return z.string().regex(/\S/, { error: "must not be blank" });
}

/**
 * Returns the schema of a duration of at least `minMs` milliseconds; its output is in milliseconds.
 */
export function duration(minMs: number) {
  return z.string({ error: "must be a duration with a unit, such as 30s" })
    .regex(DURATION, {
      error: "must be a duration made of h, m, s and ms in this order, such as 30s or 1h30m",
    })
    .transform((written, context) => {
      const milliseconds = parseDuration(written) ?? 0;
      if (milliseconds < minMs) {
        context.addIssue({
          code: "custom",
          message: minMs === 1 ? "must be longer than 0s" : `must be at least ${minMs}ms`,
        });
      }
      return milliseconds;
    });
}

/** Headers that the gateway sets: connection, request framing and response encoding. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Problem text for a request header that the gateway sets. */
export const OWN_HEADER = "is set by the gateway and cannot be configured";

/** True for a request header that the gateway sets, so that no configured value is sent in it. */
export function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name.toLowerCase());
}

/** Returns the schema of an HTTP header name. */
export function headerName() {
  return z.string().regex(FIELD_NAME, { error: "is not a valid header name" });
}

/** Returns the schema of an HTTP header value. */
export function headerValue() {
  return z.string().regex(FIELD_VALUE, { error: NOT_A_HEADER_VALUE });
}

/** Maximum length of the value of a label: it is repeated in each log line. */
const MAX_LABEL_CHARS = 100;

/** Returns the schema of the name of a label, which can be part of the name of a metric label. */
export function labelName() {
  return z.string().regex(/^[a-zA-Z][a-zA-Z0-9_]{0,49}$/, {
    error: "must be 1 to 50 letters, digits and underscores, and begin with a letter",
  });
}

/** Returns the schema of labels: text by name. */
export function labels() {
  return z.record(labelName(), text().max(MAX_LABEL_CHARS)).default({});
}
