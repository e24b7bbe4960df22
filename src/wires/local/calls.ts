import {
  isObject,
  isTooDeep,
  type JsonObject,
  type JsonValue,
  parseExact,
} from "../../core/json/json.ts";
import { isJsonObject } from "../../formats/parse_limits.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { MAX_CALLS, tooManyCalls } from "../../core/stream/stream.ts";
import { newCallIds } from "../call_ids.ts";
import type { IdSource } from "../wire.ts";
import { malformed } from "./errors.ts";
import type { Optional } from "../../prompt/refusals.ts";

/** One tool call of a response. Its arguments are the text of a JSON object. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/**
 * Returns the parser of the tool calls in each record of one response. An ID is the runtime's or
 * generated, and is used once in the response. The runtime's `index` is ignored: it may restart in
 * every record.
 */
export function newCallReader(
  idSource: IdSource,
): (calls: Optional, record: JsonObject, recordText: string) => Result<readonly Call[]> {
  const nameCall = newCallIds(idSource);

  return (calls, record, recordText) => {
    const list = calls ?? [];
    if (!Array.isArray(list)) return malformed("tool calls that are no list");
    if (list.length === 0) return success([]);
    if (list.length > MAX_CALLS) return tooManyCalls();
    if (isTooDeep(list)) return malformed("tool calls that are nested too deeply");
    const read: Call[] = [];
    for (const call of exactCalls(record, recordText) ?? list) {
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

/** Returns the calls of a record with numbers as exact text. */
function exactCalls(record: JsonObject, text: string): readonly JsonValue[] | null {
  const exact = parseExact(text, record);
  const message = isObject(exact) ? exact.message : undefined;
  const calls = isObject(message) ? message.tool_calls : undefined;
  return Array.isArray(calls) ? calls : null;
}

function argumentsText(value: JsonValue): string | null {
  if (typeof value === "string") return isJsonObject(value) ? value : null;
  return isObject(value) ? JSON.stringify(value) : null;
}
