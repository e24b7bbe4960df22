import { ConnectionError } from "../core/connection_error.ts";
import type { Outgoing } from "../core/world.ts";
import type { Origin } from "./dial.ts";
import { isField } from "./head.ts";

/** Destination of a request, parsed from its URL. */
export interface Destination extends Origin {
  /** Value of the `Host` header. */
  readonly host: string;
  readonly path: string;
  /** Value of the `Authorization` header for the credentials in the URL; null if it has none. */
  readonly authorization: string | null;
  /** Key of the origin: equal only for URLs of the same origin. */
  readonly origin: string;
}

/** Default header fields, which the runtime's own client sends with every request. */
const DEFAULT_FIELDS = [["accept", "*/*"], ["accept-language", "*"]] as const;

/** Header fields that frame the request; only this client sets them. */
const FRAMING_FIELDS = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "expect",
  "upgrade",
]);

/** Size limit in bytes of a body that is copied behind its head: one write costs less than two. */
const MAX_COPIED_BODY_BYTES = 32 * 1024;

const encoder = new TextEncoder();

/** Parses the URL of a request. Throws if its scheme is not HTTP. */
export function parseDestination(address: string): Destination {
  const { protocol, host, hostname, port, pathname, search, username, password } = new URL(address);
  const isSecure = protocol === "https:";
  if (!isSecure && protocol !== "http:") throw new TypeError("the address is not of HTTP");
  const user = `${decodeUriText(username)}:${decodeUriText(password)}`;
  return {
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (isSecure ? 443 : 80) : Number(port),
    isSecure,
    host,
    path: pathname + search,
    origin: `${protocol}//${host}`,
    authorization: user === ":" ? null : `Basic ${encoder.encode(user).toBase64()}`,
  };
}

function decodeUriText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns the bytes of a request in pieces to write one after the other. Throws a `ConnectionError`
 * if a header cannot be sent.
 */
export function requestParts(
  target: Destination,
  { method, headers, body }: Pick<Outgoing, "method" | "headers" | "body">,
  isLast = false,
): readonly Uint8Array<ArrayBuffer>[] {
  const pieces = bodyPieces(body);
  const isEmpty = body === null && method !== "POST";
  const length = isEmpty ? null : pieces.reduce((sum, piece) => sum + piece.length, 0);
  let text = `${method} ${target.path} HTTP/1.1\r\nhost: ${target.host}\r\n`;
  for (const [name, value] of collectFields(target, headers)) {
    if (!isField(name, value)) throw new ConnectionError("unsendable", "a header cannot be sent");
    if (!FRAMING_FIELDS.has(name)) text += `${name}: ${value}\r\n`;
  }
  if (length !== null) text += `content-length: ${length}\r\n`;
  if (isLast) text += "connection: close\r\n";
  text += "\r\n";
  const [first, ...others] = pieces;
  return first === undefined || first.length > MAX_COPIED_BODY_BYTES
    ? [encodeHead(text, NO_BYTES), ...pieces]
    : [encodeHead(text, first), ...others];
}

/** Returns the pieces of a request body in UTF-8; none without a body. */
export function bodyPieces(body: Outgoing["body"]): readonly Uint8Array<ArrayBuffer>[] {
  if (body === null) return [];
  if (typeof body === "string") return [encoder.encode(body)];
  return body instanceof Uint8Array ? [body] : body;
}

function collectFields(
  { authorization }: Destination,
  headers: Outgoing["headers"],
): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [written, text] of Object.entries(headers)) {
    const name = written.toLowerCase();
    // Surrounding blanks and line ends are not part of a header value (Fetch, "normalize").
    const value = AROUND.test(text) ? text.replace(ALL_AROUND, "") : text;
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  if (authorization !== null && !fields.has("authorization")) {
    fields.set("authorization", authorization);
  }
  for (const [name, value] of DEFAULT_FIELDS) if (!fields.has(name)) fields.set(name, value);
  return fields;
}

const AROUND = /^[\t\n\r ]|[\t\n\r ]$/;
const ALL_AROUND = /^[\t\n\r ]+|[\t\n\r ]+$/g;

const NO_BYTES = new Uint8Array();

/**
 * Returns a head with the bytes behind it. The head has one byte for each character, as the runtime
 * represents header values.
 */
function encodeHead(text: string, behind: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length + behind.length);
  const { read, written } = encoder.encodeInto(text, bytes);
  // A character beyond ASCII was written as two bytes.
  if (read !== text.length || written !== text.length) {
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  }
  bytes.set(behind, text.length);
  return bytes;
}
