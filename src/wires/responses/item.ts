import { isObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { malformed } from "../openai/errors.ts";
import type { Optional } from "../chat_request/refusals.ts";

/** The items that are calls, and the member in which each has what the model wrote. */
export const WRITTEN = { function_call: "arguments", custom_tool_call: "input" } as const;

/** The kinds of call. */
export type CallType = keyof typeof WRITTEN;

/** A call of a tool that the client runs. */
export interface Call {
  readonly type: CallType;
  readonly id: string;
  readonly name: string;
}

/** An output item as far as it can be told from its beginning. */
export interface BegunItem {
  readonly type: Optional;
  /** Null for what is no call. */
  readonly call: Call | null;
}

/** Reads what an item is. Fails on a type that Chat has no place for. */
export function readItem(given: Optional): Result<BegunItem> {
  if (!isObject(given)) return malformed("an output item that is no object");
  const { type } = given;
  switch (type) {
    case "message":
    case "reasoning":
    // What a search has found is in the text and its citations.
    case "web_search_call":
      return success({ type, call: null });
    case "function_call":
    case "custom_tool_call": {
      const { call_id: id, name } = given;
      if (typeof id !== "string" || id === "" || typeof name !== "string" || name === "") {
        return malformed("a malformed tool call");
      }
      return success({ type, call: { type, id, name } });
    }
    default:
      return malformed("an output item that Chat Completions has no place for");
  }
}

/** Whether both can be the same item. */
export function isSame(one: BegunItem, other: BegunItem): boolean {
  return one.type === other.type && one.call?.id === other.call?.id &&
    one.call?.name === other.call?.name;
}
