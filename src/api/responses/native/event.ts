import { isExactId } from "../../../core/ids.ts";
import {
  isObject,
  isTooDeep,
  type JsonDocument,
  type JsonObject,
} from "../../../core/json/json.ts";
import type { StreamRecord } from "../../../core/stream/reply.ts";
import { type Failed, type Result, success } from "../../../core/failure/result.ts";
import { hasKeyTwice, parseDocument } from "../../../formats/document.ts";
import { parseMembers } from "../../../formats/edit.ts";
import { malformed, providerError } from "../../../wires/openai/errors.ts";

/** Parsed event of a provider's Responses stream. */
export interface NativeEvent {
  readonly type: string;
  /** Value of the record's `event` field; null if absent. */
  readonly name: string | null;
  readonly sequence: number;
  readonly document: JsonDocument;
  /** Response object of the event; null if absent. */
  readonly response: JsonObject | null;
  /** Provider error of an `error` event; null for every other event. */
  readonly error: Failed | null;
}

const CANCELLED: readonly unknown[] = ["cancelled", "canceled"];

/** Types of terminal events with the response statuses that are valid for each. */
const TERMINALS: ReadonlyMap<string, readonly unknown[]> = new Map([
  ["response.completed", ["completed"]],
  ["response.incomplete", ["incomplete"]],
  ["response.failed", ["failed"]],
  // Both types are undocumented, but providers send them.
  ["response.cancelled", CANCELLED],
  ["response.canceled", CANCELLED],
]);

/** Valid notation of a sequence number: 1.0 and 1e0 are refused. */
const INTEGER = /^(?:0|[1-9]\d{0,15})$/;

/**
 * Parses the event of a record with data: one JSON object with a type and an exact sequence number.
 * An `error` event holds the provider's error (Responses API, streaming). An error without a type
 * or sequence number fails with the provider's error.
 */
export function parseEvent({ event: name, data }: StreamRecord): Result<NativeEvent> {
  if (data === "[DONE]") return malformed("the end of its stream before a terminal event");
  const read = parseDocument(data);
  if (!read.ok) return malformed("an event that is not one JSON object with each key once");
  const document = read.value;
  const { type, response } = document.value;
  const sequence = parseSequence(document);
  const error = isError(name, document.value) ? providerError(errorBody(document.value)) : null;
  // An error that is not a valid event cannot be forwarded.
  if (error !== null && (type !== "error" || sequence === null)) return error;
  if (typeof type !== "string" || type === "") return malformed("an event without a type");
  if (isObject(response) && repeatsKey(document, response)) {
    return malformed("an event with a response in which a key comes twice");
  }
  if (sequence === null) return malformed("an event without an exact sequence number");
  const resource = isObject(response) ? response : null;
  return success({ type, name, sequence, document, response: resource, error });
}

/**
 * True if the Response object repeats a key. Its ID is stored with an owner, so no parser may read
 * a different ID from the same bytes.
 */
function repeatsKey({ text, members }: JsonDocument, response: JsonObject): boolean {
  const start = members.find(({ key }) => key === "response")?.start;
  return hasKeyTwice(parseMembers(text, start), response);
}

function isError(name: string | null, { type, error }: JsonObject): boolean {
  return name === "error" || type === "error" || (type === undefined && (error ?? null) !== null);
}

/** Returns the error of a flat `error` event without its event type, which is no error type. */
function errorBody({ type, ...body }: JsonObject): JsonObject {
  return type === "error" ? body : { type, ...body };
}

function parseSequence({ text, members }: JsonDocument): number | null {
  const member = members.find(({ key }) => key === "sequence_number");
  if (member === undefined) return null;
  const written = text.slice(member.start, member.end);
  const sequence = Number(written);
  return INTEGER.test(written) && Number.isSafeInteger(sequence) ? sequence : null;
}

/**
 * Returns the response ID of a stream after an event; null until an event has an ID. `known` is the
 * ID before the event. Fails if the event has a different ID.
 */
export function identityAfter(
  { type, document, response }: NativeEvent,
  known: string | null,
): Result<string | null> {
  if ((type === "response.created" || TERMINALS.has(type)) && !isExactId(response?.id)) {
    return malformed(`a ${type} event without the exact id of its response`);
  }
  let id = known;
  for (const sentId of [document.value.response_id, response?.id]) {
    if (sentId === undefined || sentId === null) continue;
    if (!isExactId(sentId)) return malformed("an event whose response id is not exact text");
    if (id !== null && id !== sentId) return malformed("an event of another response");
    id = sentId;
  }
  return success(id);
}

/**
 * Returns the Response object of a terminal event; null for every other event. Fails if record
 * name, event type and response status contradict each other.
 */
export function parseTerminal({ type, name, response }: NativeEvent): Result<JsonObject | null> {
  const statuses = TERMINALS.get(type);
  if (statuses === undefined && !TERMINALS.has(name ?? "")) return success(null);
  if (name !== null && name !== type) {
    return malformed("a terminal event whose name and type differ");
  }
  if (response === null || (response.object ?? "response") !== "response") {
    return malformed("a terminal event without a Response object");
  }
  if (statuses === undefined || !statuses.includes(response.status)) {
    return malformed("a terminal event whose type and status differ");
  }
  return isTooDeep(response)
    ? malformed("a response that is nested too deeply")
    : success(response);
}

/** True if the event is part of the response: every accepted event except a keep-alive. */
export function hasContent({ type }: NativeEvent): boolean {
  return type !== "keepalive";
}
