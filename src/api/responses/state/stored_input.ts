import type { JsonObject } from "../../../core/json/json.ts";
import type { Call } from "../../../call/call.ts";
import { writtenItem } from "../../../redaction/request.ts";
import { toStoredItem } from "../../items/stored_item.ts";
import { type ResolvedRequest, storedHistory } from "./continuation.ts";

/** Stored items by the request that they are new in. */
const storedInputs = new WeakMap<ResolvedRequest, readonly JsonObject[]>();

/**
 * Returns the new input items of a request as they are stored. They are made once for each request:
 * a store counts an item object once, so the response, its conversation and the socket share them.
 * For the same reason an item that is stored already is returned itself.
 */
export function storedInput(
  request: ResolvedRequest,
  call: Call,
): readonly JsonObject[] {
  const known = storedInputs.get(request);
  if (known !== undefined) return known;
  const items = request.added.map(({ item, isStored, original = item }) =>
    isStored === true ? original : toStoredItem(writtenItem(call, item), call.world)
  );
  storedInputs.set(request, items);
  return items;
}

/** Returns the earlier items of a request as they are stored, not what is sent for them. */
export function storedItems(
  { continuation, earlier = storedHistory(continuation) }: ResolvedRequest,
): readonly JsonObject[] {
  return earlier;
}
