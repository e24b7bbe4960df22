/** The host and port that an address names. */
export interface Authority {
  /** Lower case, without the dot that may end a name; an IPv6 address in its shortest form and brackets. */
  readonly host: string;
  /** Null when none is written. */
  readonly port: number | null;
}

/** A web origin (RFC 6454, section 6.2). */
export interface Origin extends Authority {
  readonly scheme: string;
}

const AUTHORITY = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_][a-z0-9_.-]{0,253})(?::(\d{0,5}))?$/;

/** Reads `host:port`, as a `Host` header holds it (RFC 9110, section 7.2); null when it is anything else. */
export function parseAuthority(text: string): Authority | null {
  const [whole, written = "", digits] = AUTHORITY.exec(text.toLowerCase()) ?? [];
  if (whole === undefined) return null;
  // A port may be empty, which is none (RFC 3986, section 3.2.3).
  const port = digits === undefined || digits === "" ? null : Number(digits);
  if (port !== null && port > 65_535) return null;
  if (!written.startsWith("[")) return { host: written.replace(/\.$/, ""), port };
  const url = URL.parse(`http://${written}`);
  return url === null ? null : { host: url.hostname, port };
}

/** The authority of an absolute URL as it is written there. */
export function authorityIn(url: string): string {
  const start = url.indexOf("://") + 3;
  const end = url.indexOf("/", start);
  return end < 0 ? url.slice(start) : url.slice(start, end);
}

/** Reads an `Origin` header; null for `null`, for lists and for everything that no browser sends. */
export function parseOrigin(text: string): Origin | null {
  const [whole, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/(.+)$/i.exec(text) ?? [];
  const isWritten = whole !== undefined && !rest.endsWith(":");
  const authority = isWritten ? parseAuthority(rest) : null;
  return authority === null ? null : { ...authority, scheme: scheme.toLowerCase() };
}

/** The port that a scheme stands for; null for schemes other than http and https. */
export function defaultPort(scheme: string): number | null {
  return scheme === "http" ? 80 : scheme === "https" ? 443 : null;
}

/** An IPv4 address in four parts, or an IPv6 address in brackets. */
export function isIpAddress(host: string): boolean {
  if (host.startsWith("[")) return true;
  const parts = host.split(".");
  return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256);
}

/** Names and addresses that only this machine reaches (RFC 6761, section 6.3). */
export function isLoopback(host: string): boolean {
  return isLocalName(host) || host === "[::1]" || /^\[::ffff:7f[0-9a-f]{2}:/.test(host) ||
    (isIpAddress(host) && host.startsWith("127."));
}

/** `localhost` and the names below it, which browsers never look up. */
export function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}
