import { createHash } from "node:crypto";

const PLAIN = /^[a-zA-Z0-9_-]+$/;

/**
 * The id of a tool call as the Messages API takes it. One that does not fit becomes a value made
 * from the id alone, so that call and result meet again; the hash keeps `a.b` and `a:b` apart.
 */
export function toolId(id: string): string {
  if (PLAIN.test(id)) return id;
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 8);
  return `${id.replace(/[^a-zA-Z0-9_-]/gu, "_")}_${hash}`;
}
