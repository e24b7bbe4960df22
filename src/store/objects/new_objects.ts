import type { LoopTurns } from "../../traffic/loop_turns.ts";
import type { CachedResponses } from "../cached_responses.ts";
import type { PrivacyValues } from "../privacy_values.ts";
import type { BoundType, ObjectStore, StatsName, StoreStats } from "../object_store.ts";
import type { RecordBounds } from "../records/bounds.ts";
import type { RecordStats, RecordStore, RecordType } from "../records/record_store.ts";
import type { Retention } from "../retention.ts";
import { newCachedResponses } from "./cached_responses.ts";
import { newRecordChanger } from "./change_record.ts";
import type { ContentCodec } from "./content_codec.ts";
import { newConversations } from "./conversations.ts";
import { newOwners } from "./owners.ts";
import { newPrivacyValues } from "./privacy_values.ts";
import { newReasoning } from "./reasoning.ts";
import type { RecordRules } from "./record_rules.ts";
import { newResponses } from "./responses.ts";

/** Type of the records in whose heads the owners of a type of object are. */
export const OWNER_TYPES: Readonly<Record<BoundType, RecordType>> = {
  response: "response",
  chat_completion: "completion_owner",
  conversation: "conversation_owner",
  relayed_object: "relayed_owner",
};

/** Parts of a store over its records. */
export interface RecordObjects {
  readonly objects: ObjectStore;
  readonly cachedResponses: CachedResponses;
  /** Null without encryption: values are never written as they are. */
  readonly privacyValues: PrivacyValues | null;
}

/**
 * Returns the rules of stored objects over the records of a store, which was opened with these
 * bounds. Work on the many items of an object is divided among `turns`.
 */
export function newObjects<Body>(
  records: RecordStore<Body>,
  content: ContentCodec<Body>,
  bounds: RecordBounds,
  { ttlMs, ownerTtlMs }: Pick<Retention, "ttlMs" | "ownerTtlMs">,
  turns: LoopTurns,
): RecordObjects {
  const rules: RecordRules<Body> = {
    records,
    changer: newRecordChanger(records),
    content,
    bounds,
    turns,
    ttlMs,
  };
  const objects: ObjectStore = {
    responses: newResponses(rules),
    conversations: newConversations(rules),
    owners: {
      chat_completion: newOwners(rules, OWNER_TYPES.chat_completion),
      conversation: newOwners(rules, OWNER_TYPES.conversation),
      relayed_object: newOwners(rules, OWNER_TYPES.relayed_object, ownerTtlMs),
    },
    reasoning: newReasoning(rules),
    stats: () => statsOf(records.stats()),
  };
  return {
    objects,
    cachedResponses: newCachedResponses(rules),
    privacyValues: content.isSealing ? newPrivacyValues(rules) : null,
  };
}

/** Returns the sizes of the stored objects, and of the owners of each type. */
function statsOf(
  stats: ReturnType<RecordStore["stats"]>,
): Readonly<Record<StatsName, StoreStats>> {
  const whole = ({ entries, bytes }: RecordStats) => ({ entries, bytes });
  const { response } = stats;
  return {
    responses: { entries: response.bodies, bytes: response.bytes - response.headBytes },
    conversations: whole(stats.conversation),
    reasoning: whole(stats.reasoning),
    chat_completion_bindings: whole(stats.completion_owner),
    response_bindings: { entries: response.entries, bytes: response.headBytes },
    conversation_bindings: whole(stats.conversation_owner),
    relayed_object_bindings: whole(stats.relayed_owner),
  };
}
