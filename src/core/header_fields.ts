/**
 * Header fields with lower-case names. A plain object: a `Headers` costs ten times as much to copy.
 */
export type HeaderFields = Readonly<Record<string, string>>;

/**
 * Header fields of a request from a client. Names of fields are compared without regard to case
 * (RFC 9110, 5.1).
 */
export interface RequestHeaders extends Iterable<[name: string, value: string]> {
  /**
   * Returns the value of a field, those of repeated ones joined by commas.
   */
  get(name: string): string | null;
  has(name: string): boolean;
  /** True if the field was sent more than once; absent where it is not known. */
  isRepeated?(name: string): boolean;
}

/** Pattern of the name of a header field (RFC 9110, section 5.6.2). */
export const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Pattern of its value: one line of Latin-1 (RFC 9110, section 5.5). Fetch accepts no others. */
export const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Header fields in the order in which they were sent. */
export type FieldList = readonly (readonly [name: string, value: string])[];

/** The fields of a request, put into a table once. */
export class FieldTable implements RequestHeaders {
  readonly #values = new Map<string, string>();
  readonly #repeated: string[] = [];

  constructor(list: FieldList) {
    for (const [written, value] of list) {
      // Newer runtimes do not convert names to lower case.
      const name = written.toLowerCase();
      const earlier = this.#values.get(name);
      if (earlier !== undefined) this.#repeated.push(name);
      this.#values.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
    }
  }

  get(name: string): string | null {
    return this.#values.get(name) ?? this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  isRepeated(name: string): boolean {
    return this.#repeated.includes(name.toLowerCase());
  }

  [Symbol.iterator]() {
    return this.#values.entries();
  }
}

const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Returns the text of a request header. The runtime returns one character for each byte, but
 * clients write UTF-8. A value whose bytes are not UTF-8 is returned unchanged.
 */
export function decodeHeaderText(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  try {
    return strict.decode(Uint8Array.from(value, (byte) => byte.charCodeAt(0)));
  } catch {
    return value;
  }
}

/** Returns a text as a received header value: one character for each byte of its UTF-8. */
export function encodeHeaderText(text: string): string {
  return Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/**
 * Returns the `Retry-After` header, in seconds or as a date, in milliseconds; null if absent or
 * invalid.
 */
export function retryAfterMs(headers: Pick<RequestHeaders, "get">, now: number): number | null {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined || value === "") return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  // An HTTP date begins with the name of a day; the engine would parse other texts as dates too.
  const date = /^[A-Z]/i.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
