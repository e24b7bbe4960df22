import type { KeepAlive, StreamRecord } from "../../core/stream/reply.ts";

/** Silence after which a sign of life is sent: clients give up on a silent stream after minutes. */
export const KEEP_ALIVE_MS = 15_000;

const COMMENT: StreamRecord = { event: null, data: "", raw: ": keep-alive\n\n" };

/** A comment, for streams whose events are a provider's or have no type for a sign of life. */
export const COMMENT_KEEP_ALIVE: KeepAlive = { record: () => COMMENT, silenceMs: KEEP_ALIVE_MS };
