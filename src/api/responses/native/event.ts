import { isExactId } from "../../../core/ids.ts";
import {
  isObject,
  isTooDeep,
  type JsonDocument,
  type JsonObject,
} from "../../../core/json/json.ts";
import type { StreamRecord } from "../../../core/reply.ts";
import { type Failed, type Result, success } from "../../../core/result.ts";
import { hasKeyTwice, parseDocument } from "../../../formats/document.ts";
import { parseMembers } from "../../../formats/edit.ts";
import { malformed, providerError } from "../../../wires/openai/errors.ts";

/** One event of a Responses stream as its provider sent it. */
export interface NativeEvent {
  readonly type: string;
  /** The name that the record itself bears; null when it has none. */
  readonly name: string | null;
  readonly sequence: number;
  readonly document: JsonDocument;
  /** The Response object in it. */
  readonly response: JsonObject | null;
  /** The provider's error that the event holds; null for every other event. */
  readonly error: Failed | null;
}

const CANCELLED: readonly unknown[] = ["cancelled", "canceled"];

/** Types of the events that end a stream, with the statuses that agree with each. */
const TERMINALS: ReadonlyMap<string, readonly unknown[]> = new Map([
  ["response.completed", ["completed"]],
  ["response.incomplete", ["incomplete"]],
  ["response.failed", ["failed"]],
  // Neither is documented; providers send both.
  ["response.cancelled", CANCELLED],
  ["response.canceled", CANCELLED],
]);

/** An integer as it may be written: 1.0 and 1e0 are no exact ones. */
const INTEGER = /^(?:0|[1-9]\d{0,15})$/;

/**
 * Returns the event that a record holds which is not empty: one JSON object with a type and an exact
 * number. An `error` event brings the provider's error (Responses API, streaming); one without a type
 * or a number is that error and nothing else.
 */
export function readEvent({ event: name, data }: StreamRecord): Result<NativeEvent> {
  if (data === "[DONE]") return malformed("the end of its stream before a terminal event");
  const read = parseDocument(data);
  if (!read.ok) return malformed("an event that is not one JSON object with each key once");
  const document = read.value;
  const { type, response } = document.value;
  const sequence = sequenceOf(document);
  const error = isError(name, document.value) ? providerError(errorBody(document.value)) : null;
  // One that is no event by its form cannot be passed on.
  if (error !== null && (type !== "error" || sequence === null)) return error;
  if (typeof type !== "string" || type === "") return malformed("an event without a type");
  if (isObject(response) && repeatsKey(document, response)) {
    return malformed("an event with a response in which a key comes twice");
  }
  if (sequence === null) return malformed("an event without an exact sequence number");
  const told = isObject(response) ? response : null;
  return success({ type, name, sequence, document, response: told, error });
}

/** Its id binds an owner: no reader may take another one from the same bytes. */
function repeatsKey({ text, members }: JsonDocument, response: JsonObject): boolean {
  const start = members.find(({ key }) => key === "response")?.start;
  return hasKeyTwice(parseMembers(text, start), response);
}

function isError(name: string | null, { type, error }: JsonObject): boolean {
  return name === "error" || type === "error" || (type === undefined && (error ?? null) !== null);
}

/** The type of a flat error event says only that it is one. */
function errorBody({ type, ...body }: JsonObject): JsonObject {
  return type === "error" ? body : { type, ...body };
}

function sequenceOf({ text, members }: JsonDocument): number | null {
  const member = members.find(({ key }) => key === "sequence_number");
  if (member === undefined) return null;
  const written = text.slice(member.start, member.end);
  const sequence = Number(written);
  return INTEGER.test(written) && Number.isSafeInteger(sequence) ? sequence : null;
}

/**
 * The id of the response that a stream tells of, given the one known before the event; null while no
 * event has named one. A fault when the event names another.
 */
export function identityAfter(
  { type, document, response }: NativeEvent,
  known: string | null,
): Result<string | null> {
  if ((type === "response.created" || TERMINALS.has(type)) && !isExactId(response?.id)) {
    return malformed(`a ${type} event without the exact id of its response`);
  }
  let id = known;
  for (const given of [document.value.response_id, response?.id]) {
    if (given === undefined || given === null) continue;
    if (!isExactId(given)) return malformed("an event whose response id is not exact text");
    if (id !== null && id !== given) return malformed("an event of another response");
    id = given;
  }
  return success(id);
}

/**
 * The Response object with which the event ends its stream; null when it does not end it. A fault
 * when name, type and status do not say the same.
 */
export function terminalOf({ type, name, response }: NativeEvent): Result<JsonObject | null> {
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

/** Whether the event begins the answer: every accepted one does but a sign of life. */
export function beginsAnswer({ type }: NativeEvent): boolean {
  return type !== "keepalive";
}
