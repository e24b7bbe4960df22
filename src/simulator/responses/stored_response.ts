import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { Account, StoredResponse } from "../account.ts";
import { outputOf } from "./history.ts";
import { unfinishedResource } from "./resource.ts";

/** Ends a response: what was to be stored is, and its conversation gets what is new. */
export function finishResponse(ended: StoredResponse, account: Account): void {
  const { resource } = ended;
  const { id, store, background, conversation } = resource;
  const stored = account.responses.get(String(id));
  // One in the background may have been deleted or cancelled meanwhile, or be over already.
  if (stored === undefined ? background === true : isFinished(stored)) return;
  if (store !== false) account.responses.set(String(id), { ...ended, phase: "ended" });
  if (resource.status !== "completed" || !isObject(conversation)) return;
  const conversationId = String(conversation.id);
  const found = account.conversations.get(conversationId);
  if (found === undefined) return;
  const items = [...found.items, ...ended.newItems, ...outputOf(resource)];
  account.conversations.set(conversationId, { ...found, items });
}

/** Whether a response changes no more. */
export function isFinished({ phase }: StoredResponse): boolean {
  return phase === "ended" || phase === "cancelled";
}

/** A response as it can be seen now. */
export function visibleResource({ resource, phase }: StoredResponse): JsonObject {
  return phase === "ended" ? resource : unfinishedResource(resource, phase);
}
