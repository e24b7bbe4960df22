import { isObject, type JsonObject, type JsonValue, parseExact } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { RecordCodec, RecordKind } from "./record_codec.ts";
import { recordUnreadable } from "../store_failure.ts";

/**
 * Returns the record of a JSON value; numbers that were received as text are written as received.
 */
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
