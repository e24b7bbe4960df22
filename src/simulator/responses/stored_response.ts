import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { Account, StoredResponse } from "../account.ts";
import { outputOf } from "./history.ts";
import { unfinishedResource } from "./resource.ts";

/** Finishes a response: stores it if requested, and adds its new items to its conversation. */
export function finishResponse(ended: StoredResponse, account: Account): void {
  const { resource } = ended;
  const { id, store, background, conversation } = resource;
  const stored = account.responses.get(String(id));
  // A background response may have been deleted, cancelled or finished in the meantime.
  if (stored === undefined ? background === true : isFinished(stored)) return;
  if (store !== false) account.responses.set(String(id), { ...ended, phase: "ended" });
  if (resource.status !== "completed" || !isObject(conversation)) return;
  const conversationId = String(conversation.id);
  const found = account.conversations.get(conversationId);
  if (found === undefined) return;
  const items = [...found.items, ...ended.newItems, ...outputOf(resource)];
  account.conversations.set(conversationId, { ...found, items });
}

/** True if a response cannot change any more. */
export function isFinished({ phase }: StoredResponse): boolean {
  return phase === "ended" || phase === "cancelled";
}

/** Returns the resource of a response in its current phase. */
export function visibleResource({ resource, phase }: StoredResponse): JsonObject {
  return phase === "ended" ? resource : unfinishedResource(resource, phase);
}
