import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { type Binding, mayUse, withoutSnapshot } from "../bindings.ts";
import { usesPerItem } from "../item_uses.ts";
import { keyText } from "../key_text.ts";
import type { ResponseItem, ResponseStore } from "../object_store.ts";
import { headBytes, maxHeadBytes } from "../records/bounds.ts";
import type { NextRecord, StoredRecord } from "../records/record_store.ts";
import { heldBytes } from "../retention.ts";
import { recordUnreadable } from "../store_failure.ts";
import type { Snapshot } from "../snapshots.ts";
import { bindingText, parseBinding } from "./binding_text.ts";
import { divideSnapshot, joinSnapshot } from "./divided_snapshot.ts";
import type { Decision } from "./change_record.ts";
import { newItems, packBytes } from "./items.ts";
import { findNamedItems } from "./named_items.ts";
import { bindingAfter, bindingIn, boundRecord, newOwners } from "./owners.ts";
import type { RecordRules } from "./record_rules.ts";

const TYPE = "response";

/** Overhead of a stored response besides its ID, owner and content. */
const OVERHEAD_BYTES = 256;

/** A response without its items. */
interface Rest {
  readonly resource: JsonObject;
  /** Number of input items. */
  readonly inputs: number;
}

/** Returns the responses of a store. A response and its binding are one record. */
export function newResponses<Body>(rules: RecordRules<Body>): ResponseStore {
  const { records, changer, content, bounds, turns, ttlMs } = rules;
  const items = newItems(content, "item", turns, bounds[TYPE].entries);
  const owners = newOwners(rules, TYPE);

  /**
   * Returns the response of a record; null if it has none, or if the store has lost a part of it.
   */
  async function snapshotIn(
    id: string,
    { body, parts }: StoredRecord<Body>,
    remembered: ReturnType<typeof items.rememberedIn>,
  ): Promise<Result<Snapshot | null>> {
    if (body === null) return success(null);
    const value = await content.decode(TYPE, id, body);
    if (!value.ok) return value;
    const rest = parseRest(value.value);
    if (!rest.ok) return rest;
    const list = await items.decode(parts, remembered);
    if (!list.ok) return list;
    if (list.value === null) return success(null);
    return success(joinSnapshot({ ...rest.value, items: list.value }));
  }

  return {
    ...owners,
    async find(id) {
      const remembered = items.rememberedIn(keyText(id));
      const options = { content: "all", known: [...remembered.keys()] } as const;
      const found = await records.get([{ type: TYPE, id: keyText(id) }], options);
      if (!found.ok) return found;
      const [record = null] = found.value;
      const binding = bindingIn(record);
      if (!binding.ok) return binding;
      if (record === null || binding.value === null) return success(null);
      const snapshot = await snapshotIn(keyText(id), record, remembered);
      if (!snapshot.ok) return snapshot;
      return success({ binding: binding.value, snapshot: snapshot.value });
    },
    async store(id, { owner, snapshot, isNative }, caller) {
      const key = keyText(id);
      const { resource, inputs, items: all } = divideSnapshot(snapshot);
      const rest = { resource, inputs };
      const packs = await items.pack(all);
      const restBytes = heldBytes(rest) + OVERHEAD_BYTES + content.referenceBytes * packs.length;

      async function withContent(
        record: NextRecord<Body>,
        missing: ReadonlySet<string>,
      ): Promise<NextRecord<Body>> {
        const body = { body: await content.encode(TYPE, key, rest), bytes: restBytes };
        return { ...record, body, parts: await items.encode(packs, missing) };
      }

      function decide(found: StoredRecord<Body> | null): Result<Decision<Body, Binding | null>> {
        const earlier = bindingIn(found);
        if (!earlier.ok) return earlier;
        const mayStore = earlier.value === null || mayUse(earlier.value, caller);
        const full = bindingAfter(earlier.value, owner);
        const heads = headBytes(key, bindingText(full));
        const isStored = mayStore && heads <= maxHeadBytes(bounds[TYPE]) &&
          heads + restBytes + packBytes(packs) <= bounds[TYPE].bytes;
        if (!isStored && !isNative) return success({ value: null });
        const value = isStored ? full : bindingAfter(earlier.value, withoutSnapshot(owner));
        const isSame = value === earlier.value;
        const record = boundRecord(value, isSame, ttlMs);
        if (isStored && value.kind === "bound") {
          return success({ value, next: (missing) => withContent(record, missing) });
        }
        const isKept = isSame || headBytes(key, record.head) > maxHeadBytes(bounds[TYPE]);
        return success({ value, ...!isKept && { next: () => Promise.resolve(record) } });
      }

      const stored = await changer.add({ type: TYPE, id: key }, decide);
      if (stored.ok && stored.value?.kind === "bound") items.markStored(key, packs);
      return stored;
    },
    async findItems(ids) {
      const most = usesPerItem(ids.size);
      const lookup = { type: TYPE, items, ids, most } as const;
      return await findNamedItems(
        rules,
        lookup,
        parseBinding,
        (id, item, binding): ResponseItem => ({
          id,
          item,
          binding,
        }),
      );
    },
  };
}

/** Returns the response without its items that a body has; `state_unreadable` if it has none. */
function parseRest(value: JsonValue): Result<Rest> {
  if (!isObject(value) || !isObject(value.resource)) return recordUnreadable();
  const inputs = numberOf(value.inputs);
  return inputs === null ? recordUnreadable() : success({ resource: value.resource, inputs });
}
