import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import type { Target } from "../../../wires/wire.ts";
import { typeOf } from "../../items/item_type.ts";
import {
  localConversation,
  type ResolvedRequest,
  storedHistory,
  withHistory,
} from "../state/continuation.ts";
import { CLIENT_RUN } from "./fields.ts";
import type { SentTools } from "./omitted_tools.ts";

/** Stored items and tools that a request refers to, as its target gets them. */
export interface SentContext extends ResolvedRequest {
  /** True if an item of the input is left out or differs from the stored one; absent otherwise. */
  readonly hasChangedItem?: boolean;
}

/** A request as a target gets it, and the paths of the fields that bring more than it gets. */
export interface SentRequest {
  readonly context: SentContext;
  readonly lossy: readonly string[];
}

/**
 * Returns a request without the hosted tools that its stored items declare (`additional_tools`) and
 * the target does not take. An earlier turn may have had another target, or have left them out: the
 * client cannot change what is stored.
 */
export function withTakenTools(
  context: SentContext,
  target: Target,
): SentRequest & { readonly tools: SentTools } {
  const { continuation, added } = context;
  const lost = new Set<string>();
  const declaring: JsonObject[] = [];
  const leftOut: string[] = [];
  const tools = { items: declaring, leftOut };
  const taken = (item: JsonObject, path: string): JsonObject => {
    if (typeOf(item) !== "additional_tools") return item;
    const changed = takenItem(item, target, leftOut);
    if (changed !== null) lost.add(path);
    declaring.push(changed ?? item);
    return changed ?? item;
  };
  const field = localConversation(continuation) === null ? "previous_response_id" : "conversation";
  const history = storedHistory(continuation).map((item) => taken(item, field));
  const items = added.map((one) =>
    one.isStored === true ? { ...one, item: taken(one.item, one.path ?? field) } : one
  );
  const lossy = [...lost];
  if (lossy.length === 0) return { context, lossy, tools };
  const hasChangedItem = context.hasChangedItem === true || lossy.some((path) => path !== field);
  const sent = { ...context, continuation: withHistory(continuation, history), added: items };
  return { context: { ...sent, hasChangedItem }, lossy, tools };
}

/**
 * Returns a copy of an item without tools that the target does not take, and without namespaces of
 * which nothing remains: the API refuses an empty one. Null if the target takes all. The types of
 * what is left out are added to `leftOut`.
 */
function takenItem(item: JsonObject, target: Target, leftOut: string[]): JsonObject | null {
  const { capabilities } = target.provider.settings;
  const copy = { ...item };
  const lessened = new Set<JsonValue>();
  // A queue instead of recursion: nested namespaces may exceed the depth of the call stack.
  const waiting: JsonObject[] = [copy];
  for (const holder of waiting) {
    if (!Array.isArray(holder.tools)) continue;
    const tools = holder.tools.filter(isTaken).map((tool) =>
      isObject(tool) && tool.type === "namespace" ? { ...tool } : tool
    );
    if (tools.length < holder.tools.length) lessened.add(holder);
    for (const tool of tools) if (isObject(tool) && tool.type === "namespace") waiting.push(tool);
    holder.tools = tools;
  }
  if (lessened.size === 0) return null;
  // The innermost come last, and each may empty the one that holds it.
  for (const holder of waiting.reverse()) {
    if (!Array.isArray(holder.tools)) continue;
    const tools = holder.tools.filter((tool) => !(lessened.has(tool) && isEmpty(tool)));
    if (tools.length < holder.tools.length) lessened.add(holder);
    holder.tools = tools;
  }
  return copy;

  function isTaken(tool: JsonValue): boolean {
    if (!isObject(tool) || typeof tool.type !== "string") return true;
    const is = CLIENT_RUN.includes(tool.type) || capabilities.hosted_tools.includes(tool.type);
    if (!is) leftOut.push(tool.type);
    return is;
  }
}

function isEmpty(namespace: JsonValue): boolean {
  return isObject(namespace) && Array.isArray(namespace.tools) && namespace.tools.length === 0;
}
