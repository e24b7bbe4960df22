import { isObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { malformed } from "../openai/errors.ts";
import type { Optional } from "../../prompt/refusals.ts";

/** Item types that are tool calls, with the field that holds the model's text. */
export const TEXT_FIELDS = { function_call: "arguments", custom_tool_call: "input" } as const;

/** Item types of tool calls. */
export type CallType = keyof typeof TEXT_FIELDS;

/** A call of a tool that the client runs. */
export interface Call {
  readonly type: CallType;
  readonly id: string;
  readonly name: string;
}

/** The fields of an output item that are known at its start. */
export interface BegunItem {
  readonly type: Optional;
  /** Null if the item is not a tool call. */
  readonly call: Call | null;
}

/** Parses an output item. Fails on a type that has no counterpart in Chat. */
export function parseItem(given: Optional): Result<BegunItem> {
  if (!isObject(given)) return malformed("an output item that is no object");
  const { type } = given;
  switch (type) {
    case "message":
    case "reasoning":
    // The results of a search appear in the text and its citations.
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

/** True if both values can describe the same item. */
export function isSame(one: BegunItem, other: BegunItem): boolean {
  return one.type === other.type && one.call?.id === other.call?.id &&
    one.call?.name === other.call?.name;
}
