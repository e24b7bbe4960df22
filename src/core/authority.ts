/** Host and port of an address. */
export interface Authority {
  /** Lower case, without a trailing dot. An IPv6 address is in its shortest form, in brackets. */
  readonly host: string;
  /** Null if the address has no port. */
  readonly port: number | null;
}

/** A web origin (RFC 6454, section 6.2). */
export interface Origin extends Authority {
  readonly scheme: string;
}

/** An IPv6 address may have a zone (RFC 6874); some clients do not encode its percent sign. */
const AUTHORITY =
  /^(\[[0-9a-f:.]{2,45}(?:%[a-z0-9._~-]{1,64})?\]|[a-z0-9_][a-z0-9_.-]{0,253})(?::(\d{0,5}))?$/;

/**
 * Parses `host:port`, as in a `Host` header (RFC 9110, section 7.2); null if the text is invalid.
 */
export function parseAuthority(text: string): Authority | null {
  const [whole, written = "", digits] = AUTHORITY.exec(text.toLowerCase()) ?? [];
  if (whole === undefined) return null;
  // An empty port is no port (RFC 3986, section 3.2.3).
  const port = digits === undefined || digits === "" ? null : Number(digits);
  if (port !== null && port > 65_535) return null;
  if (!written.startsWith("[")) return { host: plainName(written), port };
  // The zone names an interface of the client's system.
  const url = URL.parse(`http://${written.replace(/%.*/, "]")}`);
  return url === null ? null : { host: url.hostname, port };
}

/** Returns the authority of an absolute URL, unchanged. */
export function authorityIn(url: string): string {
  const start = url.indexOf("://") + 3;
  const end = url.indexOf("/", start);
  return end < 0 ? url.slice(start) : url.slice(start, end);
}

/**
 * Parses an `Origin` header; null for `null`, for lists and for any value that no browser sends.
 */
export function parseOrigin(text: string): Origin | null {
  const [whole, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/(.+)$/i.exec(text) ?? [];
  const isWritten = whole !== undefined && !rest.endsWith(":") && !rest.includes("%");
  const authority = isWritten ? parseAuthority(rest) : null;
  return authority === null ? null : { ...authority, scheme: scheme.toLowerCase() };
}

/** Returns the default port of a scheme; null for schemes other than http and https. */
export function defaultPort(scheme: string): number | null {
  return scheme === "http" ? 80 : scheme === "https" ? 443 : null;
}

/** True for an IPv4 address in four parts, or an IPv6 address in brackets. */
export function isIpAddress(host: string): boolean {
  if (host.startsWith("[")) return true;
  const parts = host.split(".");
  return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256);
}

/** True for names and addresses that only this machine can reach (RFC 6761, section 6.3). */
export function isLoopback(host: string): boolean {
  return isLocalName(host) || host === "[::1]" || /^\[::ffff:7f[0-9a-f]{2}:/.test(host) ||
    (isIpAddress(host) && host.startsWith("127."));
}

/** True for `localhost` and its subdomains, which browsers never resolve by DNS. */
export function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

/**
 * The same for a host name or IP address of a setting or a URL: IPv6 addresses may lack brackets.
 */
export function isLoopbackName(hostname: string): boolean {
  const name = plainName(hostname);
  return isLoopback(name.includes(":") && !name.startsWith("[") ? `[${name}]` : name);
}

/** True for an address on another machine that is not encrypted. */
export function isOpenAddress(url: URL | null): boolean {
  return url?.protocol === "http:" && !isLoopbackName(url.hostname);
}

/** Returns a host name in lower case, without a trailing dot. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

/**
 * Returns the rule that a `Host` is a host with an optional port: the runtime writes it in front of
 * the path of a request, which any other text, also an empty one, would change.
 */
export function newHostSyntax(): (written: string) => boolean {
  return cached((written) => parseAuthority(written) !== null);
}

/** Returns a rule that knows the last allowed `Host`: nearly all requests have the same value. */
function cached(isAllowed: (written: string) => boolean): (written: string) => boolean {
  let latest: string | null = null;
  return (written) => {
    if (written === latest) return true;
    if (!isAllowed(written)) return false;
    latest = written;
    return true;
  };
}

/**
 * Returns the rule for a `Host` that no attacker can point at this machine (DNS rebinding): it is
 * an IP address, a local name or one of these names.
 */
export function newHostRule(names: readonly string[]): (written: string) => boolean {
  const known = new Set(names.map(plainName).filter(Boolean));
  return cached((written) => {
    const host = parseAuthority(written)?.host;
    return host !== undefined && (isIpAddress(host) || isLocalName(host) || known.has(host));
  });
}

/**
 * True if an origin has the host and port of the request. The scheme is not compared, because a TLS
 * proxy in front of the gateway forwards `Host` but not the scheme.
 */
export function isSameHost(origin: Origin, host: string): boolean {
  const own = parseAuthority(host);
  if (own === null || own.host !== origin.host) return false;
  const usual = defaultPort(origin.scheme);
  return (own.port ?? usual) === (origin.port ?? usual);
}
