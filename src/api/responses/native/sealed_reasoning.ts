import type { JsonObject } from "../../../core/json/json.ts";
import { typeOf } from "../../items/item_type.ts";
import { isSealed } from "../../reasoning/sealed_thinking.ts";
import {
  localConversation,
  type ResolvedRequest,
  storedHistory,
  withHistory,
} from "../state/continuation.ts";
import type { SentRequest } from "./stored_tools.ts";

/**
 * Returns a request without the reasoning that this gateway has sealed: another provider has made
 * it, and the API refuses encrypted content that is not its own.
 */
export function withoutSealed(context: ResolvedRequest): SentRequest {
  const { continuation, added } = context;
  const history = storedHistory(continuation);
  const kept = history.filter((item) => !isSealedItem(item));
  const sealed = added.filter(({ item }) => isSealedItem(item));
  if (kept.length === history.length && sealed.length === 0) return { context, lossy: [] };
  const field = localConversation(continuation) === null ? "previous_response_id" : "conversation";
  const paths = sealed.map(({ path }) => path ?? field);
  const changed = {
    ...context,
    continuation: withHistory(continuation, kept),
    added: added.filter((one) => !sealed.includes(one)),
    hasChangedItem: sealed.length > 0,
  };
  const lossy = new Set([...kept.length < history.length ? [field] : [], ...paths]);
  return { context: changed, lossy: [...lossy] };
}

function isSealedItem(item: JsonObject): boolean {
  const { encrypted_content: content } = item;
  return typeOf(item) === "reasoning" && typeof content === "string" && isSealed(content);
}
