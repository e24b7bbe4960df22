import { decodeEach } from "../records/decode_each.ts";
import { decodeObject } from "../records/json_records.ts";
import { Buffer } from "node:buffer";
import { allOf, type Result, success } from "../../core/result.ts";
import { type Binding, type Caller, creatorOf, isVisibleTo, withoutSnapshot } from "../bindings.ts";
import { usesPerItem } from "../item_uses.ts";
import { keyText } from "../key_text.ts";
import type {
  FoundResponse,
  NewResponse,
  ResponseItem,
  ResponseStore,
  Stored,
  StoreStats,
} from "../object_store.ts";
import { bindingBounds } from "../retention.ts";
import type { Snapshot } from "../snapshots.ts";
import { recordUnreadable, storeUnavailable } from "../store_failure.ts";
import {
  type Attempt,
  bindingAfter,
  bytesOfBinding,
  changeBinding,
  changedTo,
  expectedText,
  made,
  readBinding,
} from "./binding_change.ts";
import { bindingText } from "../objects/binding_text.ts";
import { newValkeyBindings } from "./bindings.ts";
import { nameOfItem } from "./item_name.ts";
import type { ValkeyRecords } from "./records.ts";
import { bytesOf, integerOf, listOf, textOf } from "./reply.ts";
import {
  FIND_RESPONSE,
  FIND_RESPONSE_ITEMS,
  RESPONSE_BINDING_SCRIPTS,
  STORE_RESPONSE,
} from "./scripts/owner_scripts.ts";
import { newSharedItems } from "./shared_items.ts";
import { divideSnapshot, joinSnapshot } from "../objects/divided_snapshot.ts";

/** Responses on the server, with the sizes of both parts. */
export interface ValkeyResponses {
  readonly responses: ResponseStore;
  snapshotStats(): StoreStats;
  bindingStats(): StoreStats;
}

/** What the server stores for a response besides its resource: keys, ages, sums. */
const RESPONSE_OVERHEAD_BYTES = 512;

/** What the server stores for each item of a response: its digest, and the age of the response. */
const REFERENCE_BYTES = 96;

/** Returns the responses of a store. */
export function newValkeyResponses(records: ValkeyRecords): ValkeyResponses {
  const { codec, retention: { ttlMs, maxObjects, maxBytes }, retention } = records;
  const maxBindingBytes = bindingBounds(retention).bytes;
  const bindings = newValkeyBindings(records, "response", RESPONSE_BINDING_SCRIPTS);
  const items = newSharedItems(codec, ttlMs);

  /** Returns null if the response is larger than the store. */
  function prepare(id: string, snapshot: Snapshot) {
    const divided = divideSnapshot(snapshot);
    const text = JSON.stringify(divided.resource);
    const shared = items.digest(divided.items);
    const bytes = Buffer.byteLength(id) + Buffer.byteLength(text) + RESPONSE_OVERHEAD_BYTES +
      REFERENCE_BYTES * shared.length;
    const sizes = new Map(shared.map((item) => [item.digest, item.bytes]));
    const total = sizes.values().reduce((sum, size) => sum + size, bytes);
    const list = shared.map(({ digest }) => digest).join(" ");
    return total > maxBytes ? null : { divided, text, bytes, list };
  }

  type Prepared = NonNullable<ReturnType<typeof prepare>>;

  async function write(
    id: string,
    { divided, text, bytes, list }: Prepared,
    expected: Binding | null,
    next: Binding,
  ): Stored<Attempt<Binding>> {
    const record = await codec.encode("response", keyText(id), text);
    const nextText = next === expected ? "" : bindingText(next);
    const fixed = [
      ...[
        keyText(id),
        expectedText(expected),
        nextText,
        ttlMs,
        maxObjects,
        maxBindingBytes,
        maxBytes,
      ],
      ...[record, bytes, divided.inputs, list],
    ];
    let missing: ReadonlySet<string> = new Set();
    // The second time all missing records are sent along.
    for (let attempts = 0; attempts < 2; attempts++) {
      const encoded = await items.encode(divided.items, missing);
      const reply = await records.run(STORE_RESPONSE, [...fixed, ...encoded]);
      if (!reply.ok) return reply;
      const result = listOf(reply.value);
      const [status, first] = result;
      if (textOf(status) === "changed") return changedTo(textOf(first));
      if (textOf(status) === "ok") {
        bindings.setStats(result);
        items.markStored(divided.items);
        return made(next);
      }
      missing = new Set(listOf(first).map((digest) => textOf(digest) ?? ""));
    }
    return storeUnavailable();
  }

  async function store(id: string, response: NewResponse, caller: Caller): Stored<Binding | null> {
    const { owner, snapshot, isNative } = response;
    const prepared = prepare(id, snapshot);
    return await changeBinding<Binding | null>(async (expected) => {
      const mayStore = expected === null ||
        (expected.kind === "bound" && isVisibleTo(caller, creatorOf(expected)));
      const next = bindingAfter(expected, owner);
      const isWritable = prepared !== null && mayStore && next.kind === "bound" &&
        bytesOfBinding(id, next) <= maxBindingBytes;
      if (isWritable) return await write(id, prepared, expected, next);
      const isStored = mayStore && prepared !== null;
      if (!isStored && !isNative) return made(null);
      const bound = await bindings.owners.bind(id, isStored ? owner : withoutSnapshot(owner));
      return bound.ok ? made(bound.value) : bound;
    });
  }

  async function find(id: string): Stored<FoundResponse | null> {
    const reply = await records.run(FIND_RESPONSE, [keyText(id), ttlMs]);
    if (!reply.ok) return reply;
    const [text, resource, inputs, digests, found] = listOf(reply.value);
    const binding = readBinding(textOf(text));
    if (!binding.ok) return binding;
    if (binding.value === null) return success(null);
    const list = listOf(found).map(bytesOf);
    const record = bytesOf(resource);
    // An item without a record was removed by the server, which was short of memory.
    if (record === null || list.includes(null)) {
      return success({ binding: binding.value, snapshot: null });
    }
    const decoded = await decodeItems(listOf(digests), list);
    if (!decoded.ok) return decoded;
    const object = await decodeObject(codec, "response", keyText(id), record);
    if (!object.ok) return object;
    const parts = { resource: object.value, items: decoded.value, inputs: integerOf(inputs) ?? 0 };
    return success({ binding: binding.value, snapshot: joinSnapshot(parts) });
  }

  async function decodeItems(digests: readonly unknown[], list: readonly (Uint8Array | null)[]) {
    return await decodeEach(
      list,
      (record) => record?.length ?? 0,
      (record, index) =>
        record === null ? recordUnreadable() : items.decode(textOf(digests[index]) ?? "", record),
    );
  }

  async function findItems(ids: ReadonlySet<string>): Stored<readonly ResponseItem[]> {
    if (ids.size === 0) return success([]);
    const names = new Map([...ids].map((id) => [nameOfItem(id), id]));
    const reply = await records.run(FIND_RESPONSE_ITEMS, [
      ttlMs,
      usesPerItem(names.size),
      ...names.keys(),
    ]);
    if (!reply.ok) return reply;
    const [matches, digests, list] = listOf(reply.value).map(listOf);
    const known = (digests ?? []).map((digest) => textOf(digest) ?? "");
    const present = known.flatMap((digest, index) => {
      const record = bytesOf(list?.[index]);
      return record === null ? [] : [{ digest, record }];
    });
    const decoded = await decodeEach(
      present,
      ({ record }) => record.length,
      ({ digest, record }) => items.decode(digest, record),
    );
    if (!decoded.ok) return decoded;
    const byDigest = new Map(present.map(({ digest }, index) => [digest, decoded.value[index]]));
    const found: Result<ResponseItem>[] = [];
    for (let at = 0; at < (matches ?? []).length; at += 3) {
      const [name, digest, text] = (matches ?? []).slice(at, at + 3).map(textOf);
      const item = byDigest.get(digest ?? "");
      const binding = readBinding(text ?? null);
      if (!binding.ok) found.push(binding);
      else if (item !== undefined && binding.value !== null) {
        found.push(success({ id: names.get(name ?? "") ?? "", item, binding: binding.value }));
      }
    }
    return allOf(found);
  }

  return {
    responses: { ...bindings.owners, find, store, findItems },
    snapshotStats: bindings.snapshotStats,
    bindingStats: bindings.stats,
  };
}
