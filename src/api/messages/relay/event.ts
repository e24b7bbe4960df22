import { isObject, type JsonObject, parseJson } from "../../../core/json/json.ts";
import type { StreamRecord } from "../../../core/stream/reply.ts";

/** Event types on which the relay depends, and those that it passes on unread. */
const KNOWN: ReadonlySet<string> = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "ping",
  "error",
]);

/**
 * Returns the event type of a record; null for a comment and for a record that cannot be read. The
 * event line decides, as it does for clients; without a known one, the type in the data does.
 */
export function eventType({ event, data }: StreamRecord): string | null {
  if (event === "error") return event;
  if (data === "") return null;
  if (event !== null && KNOWN.has(event)) return event;
  const { type } = eventData(data);
  return typeof type === "string" ? type : null;
}

/** Returns the data of a record; an empty object for data that is no JSON object. */
export function eventData(data: string): JsonObject {
  const value = parseJson(data);
  return isObject(value) ? value : {};
}
