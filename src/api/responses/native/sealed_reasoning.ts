import { isObject, type JsonDocument, type JsonObject } from "../../../core/json/json.ts";
import { type Edit, parseElements, removeElements } from "../../../formats/edit.ts";
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
    added: added.filter(({ item }) => !isSealedItem(item)),
    hasChangedItem: sealed.length > 0,
  };
  const lossy = new Set([...kept.length < history.length ? [field] : [], ...paths]);
  return { context: changed, lossy: [...lossy] };
}

/** Filter of reasoning that this gateway has sealed, and the paths of the cut items. */
export interface CutReasoning {
  readonly edits: readonly Edit[];
  readonly lossy: readonly string[];
}

/** Returns what cuts sealed reasoning out of the text of a request that is not resolved. */
export function cutSealed({ text, value: { input }, members }: JsonDocument): CutReasoning {
  const items = Array.isArray(input) ? input : [];
  const isCut = (index: number) => {
    const item = items[index];
    return isObject(item) && isSealedItem(item);
  };
  const lossy = [...items.keys()].filter(isCut).map((index) => `input[${index}]`);
  const list = members.find(({ key }) => key === "input");
  return list === undefined || lossy.length === 0
    ? { edits: [], lossy: [] }
    : { edits: removeElements(parseElements(text, list.start), isCut), lossy };
}

function isSealedItem(item: JsonObject): boolean {
  const { encrypted_content: content } = item;
  return typeOf(item) === "reasoning" && typeof content === "string" && isSealed(content);
}
