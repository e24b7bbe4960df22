import type { JsonValue } from "../../core/json/json.ts";
import { newRecordChanger } from "../objects/change_record.ts";
import { newHeldContent } from "../objects/content_codec.ts";
import { newPrivacyValues } from "../objects/privacy_values.ts";
import type { PrivacyValues } from "../privacy_values.ts";
import { recordBounds } from "../records/bounds.ts";
import type { Retention } from "../retention.ts";
import { newMemoryRecords } from "./records.ts";

/**
 * Returns values in the memory of the process, which are never written. `now` returns milliseconds
 * that never go back.
 */
export function newMemoryValues(now: () => number, retention: Retention): PrivacyValues {
  const bounds = recordBounds(retention);
  const records = newMemoryRecords<JsonValue>(now, bounds);
  const { ttlMs } = retention;
  return newPrivacyValues({
    records,
    changer: newRecordChanger(records),
    content: newHeldContent(),
    bounds,
    ttlMs,
  });
}
