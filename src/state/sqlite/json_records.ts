import { isObject, type JsonObject, type JsonValue, parseExact } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { RecordCodec, RecordKind } from "../records/record_codec.ts";
import { recordUnreadable } from "../store_failure.ts";

/** Returns the record of a JSON value; numbers that were received as text are written as received. */
export function encodeJson(
  codec: RecordCodec,
  kind: RecordKind,
  id: string,
  value: unknown,
): Promise<Uint8Array<ArrayBuffer>> {
  return codec.encode(kind, id, JSON.stringify(value));
}

/** Returns the JSON value of a record; `state_unreadable` if there is none. */
export async function decodeJson(
  codec: RecordCodec,
  kind: RecordKind,
  id: string,
  record: Uint8Array,
): Promise<Result<JsonValue>> {
  const text = await codec.decode(kind, id, record);
  if (!text.ok) return text;
  const value = parseExact(text.value);
  return value === undefined ? recordUnreadable() : success(value);
}

/** As `decodeJson`, for a record that is a JSON object. */
export async function decodeObject(
  codec: RecordCodec,
  kind: RecordKind,
  id: string,
  record: Uint8Array,
): Promise<Result<JsonObject>> {
  const value = await decodeJson(codec, kind, id, record);
  if (!value.ok) return value;
  return isObject(value.value) ? success(value.value) : recordUnreadable();
}

/** Returns the values of all results, or the first failure. */
export function allOf<T>(results: readonly Result<T>[]): Result<readonly T[]> {
  const values: T[] = [];
  for (const result of results) {
    if (!result.ok) return result;
    values.push(result.value);
  }
  return success(values);
}
