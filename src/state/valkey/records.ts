import { isObject, type JsonObject, parseExact } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { RecordCodec, RecordKind } from "../records/record_codec.ts";
import type { Retention } from "../retention.ts";
import { recordUnreadable } from "../store_failure.ts";
import type { Argument, ValkeyConnection } from "./connection.ts";
import { runScript, type Script } from "./script.ts";

/** The records of a store on its server. */
export interface ValkeyRecords {
  /** Start of all keys. */
  readonly start: string;
  readonly connection: ValkeyConnection;
  readonly codec: RecordCodec;
  readonly retention: Retention;
  /** Executes a script of the store and returns its reply. */
  run(script: Script, args: readonly Argument[]): Promise<Result<unknown>>;
}

/** Returns the records whose keys begin with `start`. */
export function newValkeyRecords(
  start: string,
  connection: ValkeyConnection,
  codec: RecordCodec,
  retention: Retention,
): ValkeyRecords {
  const run = (script: Script, args: readonly Argument[]) =>
    runScript(connection, script, [start], args);
  return { start, connection, codec, retention, run };
}

/** Returns the JSON object in a record; `state_unreadable` if it is not one. */
export async function decodeObject(
  codec: RecordCodec,
  kind: RecordKind,
  id: string,
  record: Uint8Array,
): Promise<Result<JsonObject>> {
  const text = await codec.decode(kind, id, record);
  return text.ok ? parseObject(text.value) : text;
}

/** Returns the JSON object with this text; `state_unreadable` if it is not one. */
export function parseObject(text: string): Result<JsonObject> {
  const value = parseExact(text);
  return isObject(value) ? success(value) : recordUnreadable();
}

/** Returns the values of all results, or the first failure. */
export function allValues<T>(results: readonly Result<T>[]): Result<readonly T[]> {
  const values: T[] = [];
  for (const result of results) {
    if (!result.ok) return result;
    values.push(result.value);
  }
  return success(values);
}
