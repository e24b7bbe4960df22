import { defaultPort, type Origin, parseOrigin } from "../../core/authority.ts";

/** True if the setting allows a web origin, in the form that browsers send. */
export type OriginPattern = (origin: string) => boolean;

/** Text that `*` matches in a host. */
const ANY = /^[a-z0-9_.-]+$/;

/**
 * Returns the pattern of an entry of `server.allowed_origins`. In a host `*` matches one or more
 * characters, as a port any or none, alone every origin. Origins come from untrusted pages, so a
 * match takes linear time for every pattern; a regular expression would backtrack over every way to
 * split a host among its `*`.
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
export function originText({ scheme, host, port }: Origin): string {
  return `${scheme}://${host}${port === null || port === defaultPort(scheme) ? "" : `:${port}`}`;
}
