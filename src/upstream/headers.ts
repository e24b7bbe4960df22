import type { HeaderFields } from "../core/header_fields.ts";
import type { FieldReader } from "../core/world.ts";
import type { Provider, Wire } from "../wires/wire.ts";

/** Response headers of one connection, of one content coding, or of the gateway itself. */
const NOT_FORWARDED = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "content-encoding",
  "content-md5",
  "digest",
  "content-digest",
  "repr-digest",
  "etag",
  "last-modified",
]);

const NOT_FORWARDED_PREFIXES = ["set-cookie", "proxy-auth", "x-gateway-", "access-control-"];

/** Returns the headers of an upstream request; `identity` requests the body without compression. */
export function upstreamRequestHeaders(headers: HeaderFields): HeaderFields {
  return { "user-agent": "switchyard", ...headers, "accept-encoding": "identity" };
}

/** The parts of a target on which it depends which of its headers are forwarded. */
export interface HeaderSource {
  readonly wire: Pick<Wire, "hidesHeader">;
  readonly provider: Pick<Provider, "secrets">;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Returns the upstream's response headers that are forwarded to the client. */
export function clientResponseHeaders(
  headers: FieldReader,
  { wire, provider: { secrets } }: HeaderSource,
): HeaderFields {
  const connection = headers.get("connection");
  const listed = connection === null || connection === undefined
    ? NO_NAMES
    : new Set(connection.split(",").map((name) => name.trim().toLowerCase()));
  const copied: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (NOT_FORWARDED.has(name) || listed.has(name)) continue;
    if (NOT_FORWARDED_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    if (wire.hidesHeader?.(name) || secrets.some((secret) => value.includes(secret))) continue;
    copied[name] = value;
  }
  return copied;
}

/** Returns the `Retry-After` header, in seconds or as a date, in milliseconds; null if absent or invalid. */
export function retryAfterMs(headers: FieldReader, now: number): number | null {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined || value === "") return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  // An HTTP date begins with the name of a day; the engine would parse other texts as dates too.
  const date = /^[A-Z]/i.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
