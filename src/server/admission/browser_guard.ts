import type { Config } from "../../config/schema.ts";
import type { Refusal } from "../../core/failure/failure.ts";
import type { Reply } from "../../core/stream/reply.ts";
import { type Failed, refuse, type Result, success } from "../../core/failure/result.ts";
import type { Call } from "../../call/call.ts";
import { requiresKey } from "../../access/presented_key.ts";
import {
  authorityIn,
  defaultPort,
  isIpAddress,
  isLoopback,
  isSameHost,
  newHostRule,
  newHostSyntax,
  type Origin,
  parseAuthority,
  parseOrigin,
  plainName,
} from "../../core/authority.ts";
import type { Peer } from "../../runtime/peer.ts";

/**
 * Returns the result of a call that ends by the browser rules: a refusal or the response to a
 * preflight; null to continue. In HTTP/2 the authority of the request's URL is its `:authority`.
 */
export type Guard = (
  call: Call,
  request: Pick<Request, "url">,
  peer: Peer,
) => Result<Reply> | null;

/** Origins of programs on the user's machine, which no web page can have. */
const APP_ORIGIN =
  /^(?:app|file|tauri|vscode-webview|vscode-file|chrome-extension|moz-extension):/i;

// A list, because `*` does not include all header names in every browser (Fetch, CORS protocol).
const EXPOSED_HEADERS = [
  "x-gateway-request-id",
  "x-request-id",
  "request-id",
  "x-gateway-provider",
  "x-gateway-model",
  "x-gateway-route",
  "x-gateway-cache-status",
  "x-gateway-lossy",
  "x-gateway-verified",
  "x-gateway-redacted",
  "x-gateway-state",
  "x-gateway-latency-ms",
  "x-gateway-overhead-duration-ms",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-gateway-budget",
  "x-gateway-key-expires",
  "retry-after",
  "x-should-retry",
  "content-disposition",
  "content-range",
].join(", ");

/** The path of the metrics, which have data of all clients and require no key. */
const METRICS = "/metrics";

const METHODS = "GET, HEAD, POST, DELETE";

/** Lifetime of a preflight response in the browser's cache, in seconds. */
const PREFLIGHT_MAX_AGE_SECONDS = "600";

const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;

const EMPTY = new Uint8Array();

/**
 * Returns the browser rules, which block requests of web pages that the user happens to open. A
 * page may call the gateway only if its origin is the gateway's own, that of its admin page, local
 * or allowed. Without client keys, and for `/metrics` always, the `Host` must be an IP address, a
 * local name or a configured name, which no attacker can point at the gateway (DNS rebinding),
 * whatever address it listens on.
 */
export function newGuard(
  { server, admin }: Pick<Config, "server" | "admin">,
  hostname: string,
): Guard {
  const bound = boundHost(server.host);
  const isHostAllowed = newHostRule([...server.allowed_hosts, hostname, bound]);
  const isHost = newHostSyntax();
  const origins = server.allowed_origins.map(parseOriginPattern);

  /**
   * True if the host is allowed. If the request line and `Host` name two hosts, both must be
   * allowed.
   */
  function isServed(written: string | null, authority: string, peer: Peer): boolean {
    if (written !== null) {
      return isHostAllowed(written) && (authority === written || isHostAllowed(authority));
    }
    // A request without a connection was made inside this process.
    if (peer.remoteAddr === undefined) return true;
    return isHostAllowed(authority) && !isFilledIn(authority, bound);
  }

  function isOriginAllowed(written: string, host: string): boolean {
    if (APP_ORIGIN.test(written)) return true;
    const origin = parseOrigin(written);
    if (origin === null) return false;
    const isWeb = defaultPort(origin.scheme) !== null;
    if (isWeb && (isLoopback(origin.host) || isSameHost(origin, host))) return true;
    if (admin.enabled && isWeb && isAtPort(origin, host, admin.port)) return true;
    const text = originText(origin);
    return origins.some((isMeant) => isMeant(text));
  }

  return ({ method, path, headers, generation, responseHeaders }, request, peer) => {
    const host = headers.get("host");
    const isOpen = !requiresKey(generation) || path === METRICS;
    if (isOpen && !isServed(host, authorityIn(request.url), peer)) return hostRefusal(host);
    if (!isOpen && host !== null && !isHost(host)) return invalidHost();
    const origin = headers.get("origin");
    if (origin === null) return null;
    responseHeaders["vary"] = "origin";
    if (!isOriginAllowed(origin, host ?? authorityIn(request.url))) {
      return refuse(
        "origin_not_allowed",
        "Pages of this web origin may not call the gateway; add it to server.allowed_origins.",
      );
    }
    responseHeaders["access-control-allow-origin"] = origin;
    const isPreflight = method === "OPTIONS" && headers.has("access-control-request-method");
    if (isPreflight) return success(preflight(headers.get("access-control-request-headers")));
    responseHeaders["access-control-expose-headers"] = EXPOSED_HEADERS;
    return null;
  };
}

function hostRefusal(host: string | null): Failed<Refusal> {
  return refuse(
    "host_not_allowed",
    host === null
      ? "The request names no host that the gateway knows; " +
        "send a Host header with its IP address or a name of server.allowed_hosts."
      : "The gateway does not answer to this host name; add it to server.allowed_hosts.",
  );
}

function invalidHost(): Failed<Refusal> {
  return refuse(
    "invalid_host",
    "The Host header is not one host name or IP address with an optional port.",
  );
}

/**
 * True if the runtime may have set the authority in the URL of a request without one. It uses the
 * address of the listener: `localhost` for every loopback address and for all addresses.
 */
function isFilledIn(authority: string, bound: string): boolean {
  const host = parseAuthority(authority)?.host ?? "";
  if (host === "localhost") return true;
  const isKnown = isLoopback(bound) || bound === "0.0.0.0" || bound === "[::]";
  return !isKnown && isIpAddress(host);
}

function preflight(requestedHeaders: string | null): Reply {
  const headers = {
    "access-control-allow-methods": METHODS,
    "access-control-max-age": PREFLIGHT_MAX_AGE_SECONDS,
    ...(requestedHeaders !== null && HEADER_NAMES.test(requestedHeaders)
      ? { "access-control-allow-headers": requestedHeaders }
      : {}),
  };
  return { kind: "whole", response: { status: 204, headers, body: EMPTY } };
}

/** True if an origin has the host of the request and this port, where the admin page is. */
function isAtPort(origin: Origin, host: string, port: number): boolean {
  const own = parseAuthority(host);
  return own?.host === origin.host && (origin.port ?? defaultPort(origin.scheme)) === port;
}

/** Returns the listening host in its usual form, also for short forms such as `127.1`. */
function boundHost(written: string): string {
  const host = written.includes(":") ? `[${written}]` : written;
  return plainName(URL.parse(`http://${host}`)?.hostname ?? "");
}

/** True if the setting allows a web origin, in the form that browsers send. */
type OriginPattern = (origin: string) => boolean;

/** Text that `*` matches in a host. */
const ANY = /^[a-z0-9_.-]+$/;

/**
 * Returns the pattern of an entry of `server.allowed_origins`. `*` in a host matches one or more
 * characters; as the port, any port or none; alone, every origin. Origins come from untrusted
 * pages, so a match takes linear time for every pattern; a regular expression would backtrack over
 * every way to split a host among its `*`.
 */
export function parseOriginPattern(allowed: string): OriginPattern {
  if (allowed === "*") return () => true;
  const exact = parseOrigin(allowed);
  const text = exact === null ? allowed.toLowerCase() : originText(exact);
  const stem = text.replace(/:\*$/, "");
  const [first = "", ...rest] = stem.split("*");
  return (origin) => {
    const meant = stem === text ? origin : origin.replace(/:\d+$/, "");
    return meant.startsWith(first) && matchesRest(meant, first.length, rest);
  };
}

/** True if the rest of the text matches these parts, each with some text before it. */
function matchesRest(text: string, start: number, parts: readonly string[]): boolean {
  let end = start;
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const at = isLast ? text.length - part.length : text.indexOf(part, end + 1);
    if (at <= end || !text.startsWith(part, at) || !ANY.test(text.slice(end, at))) return false;
    end = at + part.length;
  }
  return end === text.length;
}

/** Returns an origin in the form that browsers send, without the default port. */
function originText({ scheme, host, port }: Origin): string {
  return `${scheme}://${host}${port === null || port === defaultPort(scheme) ? "" : `:${port}`}`;
}
