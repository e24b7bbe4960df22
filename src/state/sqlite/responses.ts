import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { Binding, Caller } from "../bindings.ts";
import type { NewResponse, ResponseStore, Stored } from "../object_store.ts";
import type { RecordCodec } from "../records/record_codec.ts";
import { heldBytes } from "../retention.ts";
import { outputOf, type Snapshot } from "../snapshots.ts";
import { type ItemDigest, type ItemDigests, newItemDigests } from "./item_digests.ts";
import { decodeEach } from "../records/decode_each.ts";
import { decodeObject, encodeJson } from "../records/json_records.ts";
import { keyText } from "../key_text.ts";
import type { Link } from "./link.ts";
import type {
  EncodedItem,
  EncodedResponse,
  ItemRecord,
  ResponseRecord,
} from "./operations/responses.ts";
import { newSqliteOwners } from "./owners.ts";

/** What responses are stored with. */
interface Responses {
  readonly link: Link;
  readonly codec: RecordCodec;
  readonly digests: ItemDigests;
}

/** Returns the responses in a database. Items that several responses have are stored once. */
export function newSqliteResponses(link: Link, codec: RecordCodec): ResponseStore {
  const responses: Responses = { link, codec, digests: newItemDigests(codec) };
  return {
    ...newSqliteOwners(link, "response"),
    async find(id) {
      const found = await link.run("findResponse", keyText(id));
      if (!found.ok || found.value === null) return found.ok ? success(null) : found;
      const { binding, content } = found.value;
      if (content === null) return success({ binding, snapshot: null });
      const snapshot = await decodeSnapshot(responses, id, content);
      return snapshot.ok ? success({ binding, snapshot: snapshot.value }) : snapshot;
    },
    store: (id, response, caller) => store(responses, id, response, caller),
    async findItems(ids) {
      if (ids.size === 0) return success([]);
      const found = await link.run("findResponseItems", [...ids].map(keyText));
      if (!found.ok) return found;
      const decoded = await decodeItems(responses, found.value.items);
      if (!decoded.ok) return decoded;
      return success(found.value.uses.flatMap(({ item, binding }) => {
        const value = decoded.value[item];
        return typeof value?.id === "string" ? [{ id: value.id, item: value, binding }] : [];
      }));
    },
  };
}

/** A different item of a response. */
interface KnownItem extends ItemDigest {
  readonly item: JsonObject;
  /** True if its content need not be sent, because it was stored before. */
  readonly wasStored: boolean;
}

async function store(
  responses: Responses,
  id: string,
  { owner, snapshot, isNative }: NewResponse,
  caller: Caller,
): Stored<Binding | null> {
  const { link, codec, digests } = responses;
  const output = separableOutput(snapshot);
  const resource = output === null ? snapshot.resource : { ...snapshot.resource, output: [] };
  const all = [...snapshot.input, ...(output ?? [])];
  const { items, order } = distinctItems(digests, all);
  const base = {
    id: keyText(id),
    owner,
    isNative,
    caller,
    resource: await encodeJson(codec, "response", id, resource),
    bytes: heldBytes(id) + heldBytes(resource),
    order,
    inputs: snapshot.input.length,
  };
  // The second time with the content of all items: one that was stored before may have been removed.
  let isMissing = (item: KnownItem) => !item.wasStored;
  for (;;) {
    const encoded = await Promise.all(items.map((item) => encodeItem(codec, item, isMissing)));
    const response: EncodedResponse = { ...base, items: encoded };
    const result = await link.run("storeResponse", response);
    if (!result.ok) return result;
    if (result.value.kind === "done") {
      for (const item of items) digests.remember(item.item, item);
      return success(result.value.binding);
    }
    isMissing = () => true;
  }
}

/** Returns the output as items that can be stored apart from the response; null if it has others. */
function separableOutput(snapshot: Snapshot): readonly JsonObject[] | null {
  const { output } = snapshot.resource;
  return Array.isArray(output) && output.every(isObject) ? outputOf(snapshot) : null;
}

function distinctItems(
  digests: ItemDigests,
  all: readonly JsonObject[],
): { readonly items: readonly KnownItem[]; readonly order: readonly number[] } {
  const items: KnownItem[] = [];
  const places = new Map<string, number>();
  const order = all.map((item) => {
    const known = digests.known(item);
    const { digest, bytes } = known ?? digests.compute(item);
    const place = places.get(digest) ?? items.length;
    if (place === items.length) items.push({ item, digest, bytes, wasStored: known !== null });
    places.set(digest, place);
    return place;
  });
  return { items, order };
}

async function encodeItem(
  codec: RecordCodec,
  known: KnownItem,
  isMissing: (item: KnownItem) => boolean,
): Promise<EncodedItem> {
  const { item, digest, bytes } = known;
  const itemId = typeof item.id === "string" ? keyText(item.id) : null;
  const body = isMissing(known) ? await encodeJson(codec, "item", digest, item) : null;
  return { digest, itemId, bytes, body };
}

async function decodeSnapshot(
  responses: Responses,
  id: string,
  { resource, items, order, inputs }: NonNullable<ResponseRecord["content"]>,
): Promise<Result<Snapshot>> {
  const decoded = await decodeObject(responses.codec, "response", id, resource);
  if (!decoded.ok) return decoded;
  const values = await decodeItems(responses, items);
  if (!values.ok) return values;
  const all: JsonObject[] = [];
  for (const place of order) {
    const item = values.value[place];
    if (item !== undefined) all.push(item);
  }
  const output = all.slice(inputs);
  const isSeparate = output.length > 0;
  return success({
    resource: isSeparate ? { ...decoded.value, output } : decoded.value,
    input: all.slice(0, inputs),
  });
}

async function decodeItems(
  { codec, digests }: Responses,
  items: readonly ItemRecord[],
): Promise<Result<readonly JsonObject[]>> {
  const all = await decodeEach(items, ({ body }) => body.length, ({ digest, body }) => {
    const known = digests.find(digest);
    return known === null ? decodeObject(codec, "item", digest, body) : success(known);
  });
  if (!all.ok) return all;
  for (const [place, item] of all.value.entries()) {
    const record = items[place];
    if (record !== undefined) digests.remember(item, record);
  }
  return all;
}
