import type { JsonValue } from "../../core/json/json.ts";
import { type LoopTurns, NO_TURNS } from "../../traffic/loop_turns.ts";
import type { ObjectStore } from "../object_store.ts";
import { newHeldContent } from "../objects/content_codec.ts";
import { newObjects } from "../objects/new_objects.ts";
import { recordBounds } from "../records/bounds.ts";
import { DEFAULT_RETENTION, type Retention } from "../retention.ts";
import { newMemoryRecords } from "./records.ts";

/**
 * Returns an empty store in the memory of the process. It never fails. `now` returns milliseconds
 * that never go back.
 */
export function newMemoryObjectStore(
  now: () => number,
  retention: Retention = DEFAULT_RETENTION,
  turns: LoopTurns = NO_TURNS,
): ObjectStore {
  const bounds = recordBounds(retention);
  const records = newMemoryRecords<JsonValue>(now, bounds);
  return newObjects(records, newHeldContent(), bounds, retention, turns).objects;
}
