import { isObject, type JsonValue } from "../../core/json/json.ts";
import { allOf, type Result, success } from "../../core/failure/result.ts";
import { keyText } from "../key_text.ts";
import type { Stored } from "../object_store.ts";
import {
  mergeValues,
  NO_VALUES_OF_OBJECT,
  type PrivacyValues,
  type TokenizedValue,
  valuedKey,
  type ValuedObject,
  type ValuesOfObject,
} from "../privacy_values.ts";
import { headBytes } from "../records/bounds.ts";
import type { RecordId, StoredRecord } from "../records/record_store.ts";
import { recordUnreadable } from "../store_failure.ts";
import { shareOf } from "./owners.ts";
import type { RecordRules } from "./record_rules.ts";

const TYPE = "privacy_values";

/** Entry of a stored list that says that the text of its object is JSON. */
const JSON_TEXT = "json_text";

/** Returns the values of the objects that providers store. Callers see to their encryption. */
export function newPrivacyValues<Body>(
  { records, changer, content, bounds, ttlMs }: Omit<RecordRules<Body>, "turns">,
): PrivacyValues {
  async function valuesIn(
    { id }: RecordId,
    found: StoredRecord<Body> | null,
  ): Stored<ValuesOfObject> {
    if (found === null || found.body === null) return success(NO_VALUES_OF_OBJECT);
    const value = await content.decode(TYPE, id, found.body);
    return value.ok ? parseValues(value.value) : value;
  }

  return {
    async find(objects) {
      if (objects.length === 0) return success([]);
      const ids = objects.map(idOf);
      const found = await records.get(ids, { content: "body", renewMs: ttlMs });
      if (!found.ok) return found;
      return allOf(await Promise.all(ids.map((id, at) => valuesIn(id, found.value[at] ?? null))));
    },
    add(object, added) {
      const id = idOf(object);
      return changer.change(id, { content: "body" }, async (found) => {
        const earlier = await valuesIn(id, found);
        // One that cannot be read any more has no use.
        const known = earlier.ok ? earlier.value : NO_VALUES_OF_OBJECT;
        const { values, bytes } = mergeValues(id.id, known.values, added.values);
        const isJsonText = known.isJsonText || added.isJsonText;
        const all = headBytes(id.id, "") + bytes;
        if (values.size === 0 || all > bounds[TYPE].bytes) return success({ value: undefined });
        return success({
          value: undefined,
          async next() {
            const list = [...values.values()].map(({ core, label, value }) => [core, label, value]);
            const stored = isJsonText ? [...list, JSON_TEXT] : list;
            const body = { body: await content.encode(TYPE, id.id, stored), bytes };
            return { head: "", body, parts: [], share: shareOf(object.creator), lifeMs: ttlMs };
          },
        });
      });
    },
  };
}

function idOf(object: ValuedObject): RecordId {
  return { type: TYPE, id: keyText(valuedKey(object)) };
}

/** Returns the values of a stored list; `state_unreadable` if it is none. */
function parseValues(stored: JsonValue): Result<ValuesOfObject> {
  if (isObject(stored) || !Array.isArray(stored)) return recordUnreadable();
  const values: TokenizedValue[] = [];
  const isJsonText = stored.at(-1) === JSON_TEXT;
  for (const entry of isJsonText ? stored.slice(0, -1) : stored) {
    const [core, label, value] = Array.isArray(entry) ? entry : [];
    if (typeof core !== "string" || typeof label !== "string" || typeof value !== "string") {
      return recordUnreadable();
    }
    values.push({ core, label, value });
  }
  return success({ values, isJsonText });
}
