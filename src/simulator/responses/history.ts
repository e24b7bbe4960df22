import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { Account } from "../account.ts";
import { type ApiError, newApiError } from "../protocol.ts";

/** The items that precede a request's input, and the conversation that holds them. */
export interface History {
  readonly items: readonly JsonObject[];
  readonly conversationId: string | null;
}

/** Returns the history that a request continues; an error if the account does not have it. */
export function resolveHistory(
  body: JsonObject,
  account: Account,
): { readonly history: History } | { readonly error: ApiError } {
  const { previous_response_id: previous, conversation } = body;
  if (typeof previous === "string") {
    const stored = account.responses.get(previous);
    if (stored?.phase !== "ended") {
      const details = { param: "previous_response_id", code: "previous_response_not_found" };
      const message = `Previous response with id '${previous}' not found.`;
      return { error: newApiError(message, details) };
    }
    const items = [...stored.inputItems, ...outputOf(stored.resource)];
    return { history: { items, conversationId: null } };
  }
  const id = isObject(conversation) ? conversation.id : conversation;
  if (typeof id !== "string") return { history: { items: [], conversationId: null } };
  const stored = account.conversations.get(id);
  if (stored === undefined) {
    const message = `Conversation with id '${id}' not found.`;
    return { error: newApiError(message, { status: 404 }) };
  }
  return { history: { items: stored.items, conversationId: id } };
}

/** Returns the output items of a response. */
export function outputOf({ output }: JsonObject): readonly JsonObject[] {
  return Array.isArray(output) ? output.filter(isObject) : [];
}

/** Finds an item of the account by id, in its responses and conversations. */
export function findItem(id: string, account: Account): JsonObject | undefined {
  for (const { inputItems, resource } of account.responses.values()) {
    const found = [...inputItems, ...outputOf(resource)].find((item) => item.id === id);
    if (found !== undefined) return found;
  }
  return account.conversations.values().flatMap(({ items }) => items).find((item) =>
    item.id === id
  );
}
