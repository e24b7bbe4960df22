import type { StreamRecord } from "../../core/stream/reply.ts";

const COMMENT: StreamRecord = { event: null, data: "", raw: ": keep-alive\n\n" };

/**
 * Returns a comment as a sign of life, for streams whose events are a provider's or have no type
 * for one.
 */
export function commentKeepAlive(): StreamRecord {
  return COMMENT;
}
