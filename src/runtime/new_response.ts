// Until the constructor of `Response` does not convert each header field several times.
import { FIELD_NAME } from "../core/header_fields.ts";

/** One field of a response header; the name is in lower case. */
export type HeaderPair = [name: string, value: string];

/** Adds a field to a response header, in place of an earlier one of the same name. */
export function setField(fields: HeaderPair[], name: string, value: string): void {
  for (const field of fields) {
    if (field[0] === name) {
      field[1] = value;
      return;
    }
  }
  fields.push([name, value]);
}

/** The runtime's own form of a response, which has its header fields in a list. */
interface InnerResponse {
  readonly headerList: HeaderPair[];
}

/**
 * Returns a response with header fields. They are put into the list that the runtime sends, because
 * its constructor converts each field several times, which costs more than all else of a small
 * response. Where a runtime has no such list, and for a field that it would change or refuse, the
 * constructor is used.
 */
export function newResponse(
  body: BodyInit | null,
  status: number,
  fields: readonly HeaderPair[],
): Response {
  if (INNER_SYMBOL === null || !fields.every(isPlain)) {
    return new Response(body, { status, headers: [...fields] });
  }
  const response = status === 200 ? new Response(body) : new Response(body, { status });
  const list = headerList(response, INNER_SYMBOL);
  if (list === null) return new Response(body, { status, headers: [...fields] });
  for (const field of fields) list.push(field);
  return response;
}

// Values that the runtime sends as they are.
const VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** Limit of the names that are known to be plain: providers choose names too. */
const MAX_KNOWN_NAMES = 256;

const plainNames = new Set<string>();

function isPlain([name, value]: HeaderPair): boolean {
  return VALUE.test(value) && (plainNames.has(name) || isPlainName(name));
}

function isPlainName(name: string): boolean {
  if (!FIELD_NAME.test(name)) return false;
  if (plainNames.size < MAX_KNOWN_NAMES) plainNames.add(name);
  return true;
}

/** Symbols of a response in runtimes that send the header fields of its list. */
const KNOWN_SYMBOLS: readonly unknown[] = ["[[webidl.brand]]", "headers", "response"];

/**
 * Returns the symbol under which the runtime stores its form of a response; null if it has none, or
 * if its responses have other symbols too: from Deno 2.9 on such a symbol says that a response was
 * made without header fields, and the list is then not sent.
 */
export function innerSymbolOf(response: Response): symbol | null {
  const symbols = Object.getOwnPropertySymbols(response);
  if (!symbols.every(({ description }) => KNOWN_SYMBOLS.includes(description))) return null;
  return symbols.find(({ description }) => description === "response") ?? null;
}

const INNER_SYMBOL = innerSymbolOf(new Response(null));

/**
 * Returns the list of header fields of a new response; null if the runtime has none, or it is not
 * empty.
 */
function headerList(response: Response, symbol: symbol): HeaderPair[] | null {
  const inner: unknown = Reflect.get(response, symbol);
  return isInnerResponse(inner) ? inner.headerList : null;
}

function isInnerResponse(inner: unknown): inner is InnerResponse {
  return typeof inner === "object" && inner !== null && "headerList" in inner &&
    Array.isArray(inner.headerList) && inner.headerList.length === 0;
}
