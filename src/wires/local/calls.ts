import {
  isObject,
  isTooDeep,
  type JsonValue,
  parseExact,
  parseJson,
} from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { newCallIds } from "../call_ids.ts";
import type { IdSource } from "../wire.ts";
import { malformed } from "./errors.ts";
import type { Optional } from "../chat_request/refusals.ts";

/** One tool call of an answer: its arguments are the text of a JSON object. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/**
 * Reads the calls of each record of one answer. Ids are those given, else made; every id is used
 * once in the answer. The runtime's own `index` is not looked at: it may start again in every record.
 */
export function callReader(
  mint: IdSource,
): (calls: Optional, recordText: string) => Result<readonly Call[]> {
  const nameCall = newCallIds(mint);

  return (calls, recordText) => {
    const list = calls ?? [];
    if (!Array.isArray(list)) return malformed("tool calls that are no list");
    if (list.length === 0) return success([]);
    if (isTooDeep(list)) return malformed("tool calls that are nested too deeply");
    const read: Call[] = [];
    for (const call of exactCalls(recordText) ?? list) {
      if (!isObject(call) || !isObject(call.function)) return malformed("a malformed tool call");
      const { name } = call.function;
      const text = argumentsText(call.function.arguments ?? {});
      if (typeof name !== "string" || name === "" || text === null) {
        return malformed("a malformed tool call");
      }
      read.push({ id: nameCall(call.id), name, text });
    }
    return success(read);
  };
}

/** The same calls with numbers that keep their text. */
function exactCalls(recordText: string): readonly JsonValue[] | null {
  const record = parseExact(recordText);
  const message = isObject(record) ? record.message : undefined;
  const calls = isObject(message) ? message.tool_calls : undefined;
  return Array.isArray(calls) ? calls : null;
}

function argumentsText(value: JsonValue): string | null {
  if (typeof value === "string") return isObject(parseJson(value)) ? value : null;
  return isObject(value) ? JSON.stringify(value) : null;
}
