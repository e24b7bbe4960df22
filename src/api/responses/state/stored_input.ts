import type { JsonObject } from "../../../core/json/json.ts";
import type { Call } from "../../../call/call.ts";
import { paceOf, writtenItem } from "../../../redaction/request.ts";
import { toStoredItem } from "../../items/stored_item.ts";
import { type ResolvedRequest, storedHistory } from "./continuation.ts";

/** Stored items by the request that they are new in. */
const storedInputs = new WeakMap<ResolvedRequest, readonly JsonObject[]>();

/**
 * Returns the new input items of a request as they are stored. They are made once for each request:
 * a store counts an item object once, so the response, its conversation and the socket share them.
 * For the same reason an item that is stored already is returned itself.
 */
export async function storedInput(
  request: ResolvedRequest,
  call: Call,
): Promise<readonly JsonObject[]> {
  const known = storedInputs.get(request);
  if (known !== undefined) return known;
  const items: JsonObject[] = [];
  const pace = paceOf(call);
  for (const { item, isStored, original = item } of request.added) {
    items.push(
      isStored === true ? original : toStoredItem(await writtenItem(call, item, pace), call.world),
    );
  }
  storedInputs.set(request, items);
  return items;
}

/** Returns the earlier items of a request as they are stored, not what is sent for them. */
export function storedItems(
  { continuation, earlier = storedHistory(continuation) }: ResolvedRequest,
): readonly JsonObject[] {
  return earlier;
}
