import { isObject, type JsonObject } from "../../core/json.ts";
import type { Account } from "../account.ts";
import { complain, type Complaint } from "../voice.ts";

/** What came before a request: the items, and the conversation they belong to. */
export interface History {
  readonly items: readonly JsonObject[];
  readonly conversation: string | null;
}

/** What a request continues, as far as this account has it. */
export function historyOf(
  body: JsonObject,
  account: Account,
): { readonly history: History } | { readonly complaint: Complaint } {
  const { previous_response_id: previous, conversation } = body;
  if (typeof previous === "string") {
    const kept = account.responses.get(previous);
    if (kept?.stage !== "ended") {
      const details = { param: "previous_response_id", code: "previous_response_not_found" };
      const message = `Previous response with id '${previous}' not found.`;
      return { complaint: complain(message, details) };
    }
    const items = [...kept.input, ...outputOf(kept.resource)];
    return { history: { items, conversation: null } };
  }
  const id = isObject(conversation) ? conversation.id : conversation;
  if (typeof id !== "string") return { history: { items: [], conversation: null } };
  const kept = account.conversations.get(id);
  if (kept === undefined) {
    const message = `Conversation with id '${id}' not found.`;
    return { complaint: complain(message, { status: 404 }) };
  }
  return { history: { items: kept.items, conversation: id } };
}

/** The output of a response. */
export function outputOf({ output }: JsonObject): readonly JsonObject[] {
  return Array.isArray(output) ? output.filter(isObject) : [];
}

/** The item of this id, wherever this account has it; undefined when it has none. */
export function itemOf(id: string, account: Account): JsonObject | undefined {
  for (const { input, resource } of account.responses.all()) {
    const found = [...input, ...outputOf(resource)].find((item) => item.id === id);
    if (found !== undefined) return found;
  }
  return account.conversations.all().flatMap(({ items }) => items).find((item) => item.id === id);
}
