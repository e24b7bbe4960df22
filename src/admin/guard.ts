import { createHash, timingSafeEqual } from "node:crypto";
import {
  authorityIn,
  defaultPort,
  isSameHost,
  newHostRule,
  parseOrigin,
} from "../core/authority.ts";

/** Settings of the guard of the admin listener. */
export interface GuardSettings {
  /** Names of this machine that a `Host` may have beside IP addresses and `localhost`. */
  readonly hosts: readonly string[];
  /** Null if none is required. */
  readonly password: string | null;
}

/** Refusal of a request to the admin listener. */
export interface Refused {
  readonly status: 401 | 403 | 405 | 414;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Parts of a request that the guard reads. */
export type GuardedRequest = Pick<Request, "method" | "url" | "headers">;

/** Maximum length of the URL of a request. */
const MAX_URL_CHARS = 8_192;

/** Maximum length of an `Authorization` header. */
const MAX_CREDENTIALS_CHARS = 4_096;

/**
 * Returns the check of every request to the admin listener; null as its result to continue. The `Host`
 * must be one that no attacker can point at this machine (DNS rebinding), pages of other origins are
 * refused, and the password is compared by its digest.
 */
export function newAdminGuard(
  { hosts, password }: GuardSettings,
): (request: GuardedRequest) => Refused | null {
  const isHostAllowed = newHostRule(hosts);
  const digest = password === null ? null : sha256(password);

  return (request) => {
    const { method, url, headers } = request;
    const authority = authorityIn(url);
    const host = headers.get("host") ?? authority;
    if (!isHostAllowed(host) || !isHostAllowed(authority)) return FOREIGN_HOST;
    if (isForeign(request, host)) return FOREIGN_ORIGIN;
    if (digest !== null && !isPasswordRight(headers.get("authorization"), digest)) return CHALLENGE;
    if (method !== "GET" && method !== "HEAD") return WRONG_METHOD;
    return url.length > MAX_URL_CHARS ? TOO_LONG : null;
  };
}

const FOREIGN_HOST: Refused = {
  status: 403,
  text: "The admin listener does not answer to this host name; use localhost, an IP address, " +
    "the name of this machine or a name of server.allowed_hosts.",
  headers: {},
};
const FOREIGN_ORIGIN: Refused = {
  status: 403,
  text: "Pages of another origin may not use the admin listener.",
  headers: {},
};
const CHALLENGE: Refused = {
  status: 401,
  text: "Send the password of admin.password; the user name may be anything.",
  headers: { "www-authenticate": 'Basic realm="switchyard admin", charset="UTF-8"' },
};
const WRONG_METHOD: Refused = {
  status: 405,
  text: "Use GET or HEAD.",
  headers: { allow: "GET, HEAD" },
};
const TOO_LONG: Refused = { status: 414, text: "The URL is too long.", headers: {} };

/**
 * True if a page of another origin has made the request. Browsers that send `Sec-Fetch-Site` do so on
 * requests without `Origin` as well; a link from another page may open the page itself, but not the
 * stream of snapshots, whose places other pages could take.
 */
function isForeign({ headers, url }: GuardedRequest, host: string): boolean {
  const written = headers.get("origin");
  if (written !== null) {
    const origin = parseOrigin(written);
    if (origin === null || defaultPort(origin.scheme) === null) return true;
    if (!isSameHost(origin, host)) return true;
  }
  const site = headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return false;
  return headers.get("sec-fetch-mode") !== "navigate" ||
    headers.get("sec-fetch-dest") !== "document" || new URL(url).pathname !== "/";
}

function isPasswordRight(authorization: string | null, digest: Uint8Array): boolean {
  if (authorization === null || authorization.length > MAX_CREDENTIALS_CHARS) return false;
  const [, encoded] = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization) ?? [];
  const credentials = encoded === undefined ? null : decodeBase64(encoded);
  const colon = credentials?.indexOf(":") ?? -1;
  if (credentials === null || colon < 0) return false;
  return timingSafeEqual(sha256(credentials.slice(colon + 1)), digest);
}

function decodeBase64(text: string): string | null {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(text));
  } catch {
    return null;
  }
}

function sha256(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
