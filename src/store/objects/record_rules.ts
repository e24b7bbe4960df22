import type { LoopTurns } from "../../traffic/loop_turns.ts";
import type { RecordBounds } from "../records/bounds.ts";
import type { RecordStore } from "../records/record_store.ts";
import type { RecordChanger } from "./change_record.ts";
import type { ContentCodec } from "./content_codec.ts";

/** Records with all that the rules of stored objects need. */
export interface RecordRules<Body> {
  readonly records: RecordStore<Body>;
  readonly changer: RecordChanger<Body>;
  readonly content: ContentCodec<Body>;
  readonly bounds: RecordBounds;
  readonly turns: LoopTurns;
  /**
   * Lifetime of responses, conversations, reasoning and owners in milliseconds; other owners have
   * one of their own.
   */
  readonly ttlMs: number;
}
