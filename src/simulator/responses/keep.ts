import { isObject, type JsonObject } from "../../core/json.ts";
import type { Account, KeptResponse } from "../account.ts";
import { outputOf } from "./history.ts";
import { unfinished } from "./resource.ts";

/** Ends a response: what was to be stored is, and its conversation gets what is new. */
export function settle(kept: KeptResponse, account: Account): void {
  const { resource } = kept;
  const { id, store, background, conversation } = resource;
  const stored = account.responses.get(String(id));
  // One in the background may have been deleted or cancelled meanwhile, or be over already.
  if (stored === undefined ? background === true : isOver(stored)) return;
  if (store !== false) account.responses.put(String(id), { ...kept, stage: "ended" });
  if (resource.status !== "completed" || !isObject(conversation)) return;
  const place = String(conversation.id);
  const found = account.conversations.get(place);
  if (found === undefined) return;
  const items = [...found.items, ...kept.fresh, ...outputOf(resource)];
  account.conversations.put(place, { ...found, items });
}

/** Whether a response changes no more. */
export function isOver({ stage }: KeptResponse): boolean {
  return stage === "ended" || stage === "cancelled";
}

/** A response as it can be seen now. */
export function seen({ resource, stage }: KeptResponse): JsonObject {
  return stage === "ended" ? resource : unfinished(resource, stage);
}
