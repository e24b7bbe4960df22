import { createHash } from "node:crypto";
import { isLoopback, parseAuthority } from "../core/authority.ts";

/** Directives of every policy: nothing but what a policy permits, and no page that embeds it. */
const CLOSED = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];

/** `Content-Security-Policy` of a plain text, which loads nothing. */
export const TEXT_POLICY = ["default-src 'none'", ...CLOSED].join("; ");

const IMPORT_MAP = /<script type="importmap">([^]*?)<\/script>/;

/**
 * Returns the source expression of the import map of a page: its digest. Empty without an import
 * map.
 */
export function importMapSource(page: string): string {
  const [, text] = IMPORT_MAP.exec(page) ?? [];
  if (text === undefined) return "";
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Addresses at which the page may call the gateway. */
export interface GatewayAddresses {
  /** Address of the gateway's listener. */
  readonly url: string;
  /** Host names of `server.allowed_hosts`, at any port. */
  readonly names: readonly string[];
}

/** Hosts that mean each address of the machine, at which no client can connect. */
const EVERY_HOST = ["0.0.0.0", "[::]"];

/**
 * Returns the `Content-Security-Policy` of a page that was requested with this `Host`. The form
 * that sends a chat call may connect to the gateway only: at its own address, by the host of the
 * page, and by the names of the gateway.
 */
export function contentPolicy(
  importMap: string,
  host: string | null,
  { url, names }: GatewayAddresses,
): string {
  const port = new URL(url).port || "80";
  const pageHost = parseAuthority(host ?? "")?.host;
  const hosts = [...pageHost === undefined ? [] : [pageHost], "127.0.0.1", "localhost"];
  const { hostname, origin } = new URL(url);
  const isEvery = EVERY_HOST.includes(hostname);
  const reached = isEvery ? pageHost ?? "" : hostname;
  const connect = ["'self'"].concat([
    ...isEvery ? [] : [origin],
    // A source has no form for IPv6 addresses (Content Security Policy, section 2.3.1), so that the
    // port is all that it can name.
    ...reached.startsWith("[") && !isLoopback(reached) ? [`http://*:${port}`] : [],
    ...hosts.map((name) => `http://${name}:${port}`),
    ...names.flatMap((name) => [`http://${name}:*`, `https://${name}:*`]),
  ].filter((source) => !source.includes("[")));
  return [
    "default-src 'none'",
    `script-src ${["'self'", importMap].filter(Boolean).join(" ")}`,
    "style-src 'self'",
    `connect-src ${[...new Set(connect)].join(" ")}`,
    "img-src 'self' data:",
    ...CLOSED,
  ].join("; ");
}
