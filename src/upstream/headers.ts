import type { HeaderFields } from "../core/reply.ts";
import type { FieldReader } from "../core/world.ts";

/** Belong to one connection or to one encoding of a body, or are the gateway's own. */
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

const KEPT_BACK_PREFIXES = ["set-cookie", "proxy-auth", "x-gateway-", "access-control-"];

/** The request headers for an upstream, from those of its wire. The body is asked for as it is. */
export function upstreamRequestHeaders(headers: HeaderFields): HeaderFields {
  return { "user-agent": "switchyard", ...headers, "accept-encoding": "identity" };
}

/** The upstream's response headers that the client may see. */
export function clientResponseHeaders(
  headers: FieldReader,
  secrets: readonly string[],
): HeaderFields {
  const listed = new Set(
    (headers.get("connection") ?? "").split(",").map((name) => name.trim().toLowerCase()),
  );
  const copied: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (NOT_FORWARDED.has(name) || listed.has(name)) continue;
    if (KEPT_BACK_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    if (secrets.some((secret) => value.includes(secret))) continue;
    copied[name] = value;
  }
  return copied;
}

/** Milliseconds that a `Retry-After` asks for, in seconds or as a date; null when there is none. */
export function retryAfterMs(headers: FieldReader, now: number): number | null {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined || value === "") return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  // A date begins with a name of a day; other texts may still be dates to the engine.
  const date = /^[A-Z]/i.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
