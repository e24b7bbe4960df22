import { defaultPort, type Origin, parseOrigin } from "./authority.ts";

/** True if a web origin, as browsers write it, is one that the setting allows. */
export type OriginPattern = (origin: string) => boolean;

/** What `*` may be in a host. */
const ANY = /^[a-z0-9_.-]+$/;

/**
 * Returns the pattern of an entry of `server.allowed_origins`. In a host `*` is one character or more,
 * as a port any or none, alone every origin. Origins come from strangers, so a match takes linear time
 * whatever the pattern: a regular expression would try every way to share a host among its `*`.
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

/** True if the text from `start` on is these parts, each with something before it, and then ends. */
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

/** Returns an origin as browsers write it: the usual port is left out. */
export function originText({ scheme, host, port }: Origin): string {
  return `${scheme}://${host}${port === null || port === defaultPort(scheme) ? "" : `:${port}`}`;
}
