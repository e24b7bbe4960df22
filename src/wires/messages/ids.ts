import { createHash } from "node:crypto";

/** Characters of an invalid ID that are kept. */
const MAX_KEPT_CHARS = 64;

const PLAIN = /^[a-zA-Z0-9_-]+$/;

/**
 * Returns a tool call ID that the Messages API accepts. An invalid ID is replaced by a value
 * derived from it, so that call and result still match. The hash keeps `a.b` and `a:b` distinct.
 */
export function toolId(id: string): string {
  if (PLAIN.test(id)) return id;
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 8);
  return `${id.slice(0, MAX_KEPT_CHARS).replace(/[^a-zA-Z0-9_-]/gu, "_")}_${hash}`;
}
