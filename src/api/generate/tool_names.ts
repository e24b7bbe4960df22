import { createHash } from "node:crypto";

/** Maximum length of a function name in characters (Chat Completions, tools). */
const MAX_NAME_CHARS = 64;

/**
 * Maximum length of a name that a client gets back in each call of its tool, and that of a
 * namespace; APIs have up to 128 characters.
 */
export const MAX_OWN_NAME_CHARS = 1024;

/**
 * Returns a tool's name for upstreams that limit its length. A name that is too long is truncated
 * and made distinct by its hash.
 */
export function shortName(name: string): string {
  if (name.length <= MAX_NAME_CHARS) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, MAX_NAME_CHARS - hash.length - 1)}_${hash}`;
}
