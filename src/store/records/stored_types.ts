import type { StoredType, StoredTypeName } from "../state_info.ts";
import { RECORD_TYPES, type RecordStats, type RecordType } from "./record_store.ts";

/** Names of the types of records. */
const TYPE_NAMES: Readonly<Record<RecordType, StoredTypeName>> = {
  response: "responses",
  conversation: "conversations",
  reasoning: "reasoning",
  cached_response: "cached_responses",
  privacy_values: "privacy_values",
  completion_owner: "owners",
  conversation_owner: "owners",
  relayed_owner: "owners",
};

/** Returns the size of each type of record. The owners of responses are in the records of these. */
export function storedTypes(sizeOf: (type: RecordType) => RecordStats): readonly StoredType[] {
  const types = new Map<StoredTypeName, StoredType>();
  const add = (type: StoredTypeName, entries: number, bytes: number) => {
    const before = types.get(type) ?? { entries: 0, bytes: 0 };
    types.set(type, { type, entries: before.entries + entries, bytes: before.bytes + bytes });
  };
  for (const type of RECORD_TYPES) {
    const { entries, bodies, headBytes, bytes } = sizeOf(type);
    if (type !== "response") add(TYPE_NAMES[type], entries, bytes);
    else {
      add("responses", bodies, bytes - headBytes);
      add("owners", entries, headBytes);
    }
  }
  return [...types.values()];
}
