import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "../../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../../core/failure/result.ts";
import { documentOf, parseRequest, type RequestLimits } from "../../../formats/document.ts";
import { changedObject } from "../../../formats/edit.ts";
import { wrongField } from "../../items/shape.ts";

/** Parsed `response.create` message of a WebSocket. */
export interface CreateMessage {
  /** Body of the equivalent HTTP request, with `stream: true`. */
  readonly document: JsonDocument;
  /** True if nothing is generated: the input is only held for the next request. */
  readonly isWarmUp: boolean;
}

/** Fields of the message that are no fields of its request. */
const MESSAGE_FIELDS = ["type", "generate", "stream_id", "event_id", "response"];

/** Maximum length of a `stream_id` in characters: every event of its stream repeats it. */
const MAX_STREAM_ID_CHARS = 256;

/**
 * Maximum length of the `stream_id` of a refused message. It may wait for turns whose memory is
 * counted.
 */
const MAX_ECHOED_CHARS = 1_024;

/**
 * Returns the `stream_id` of a message; null if absent or too long, as the refusal of its message
 * waits with it for the turns before. Every event in reply repeats it.
 */
export function findStreamId(message: JsonValue | undefined): string | null {
  const streamId = isObject(message) ? streamIdOf(message) : null;
  const isEchoed = typeof streamId === "string" && streamId !== "" &&
    streamId.length <= MAX_ECHOED_CHARS;
  return isEchoed ? streamId : null;
}

function streamIdOf({ stream_id: streamId, response }: JsonObject): JsonValue {
  return streamId ?? (isObject(response) ? response.stream_id : null) ?? null;
}

/** Parses a message as a JSON object within the limits of a request. */
export function parseMessage(text: string, limits: RequestLimits): Result<JsonDocument> {
  const document = parseRequest(text, limits);
  if (document.ok || document.failure.kind !== "invalid_json") return document;
  return refuse(
    "invalid_json",
    "The message is not one JSON object with each key once; send one.",
    "type",
  );
}

/**
 * Parses the request in a `response.create` message. Its fields are at the top level or under
 * `response` (OpenAI API, Responses over WebSocket).
 */
export function parseCreateMessage(message: JsonDocument): Result<CreateMessage> {
  const problem = messageProblem(message);
  if (problem !== null) return problem;
  const inner = parseInnerRequest(message);
  if (!inner.ok) return inner;
  const { text, value, members } = inner.value;
  const generate = message.value.generate ?? value.generate ?? null;
  if (generate !== null && typeof generate !== "boolean") {
    return wrongField("generate", "a boolean");
  }
  if (value.background === true) {
    return refuse(
      "unsupported_feature",
      "A response over a socket cannot be made in the background; use HTTP for that.",
      "background",
    );
  }
  const isInputOmitted = addsNothing(value.input, value.previous_response_id);
  const omitted = isInputOmitted ? [...MESSAGE_FIELDS, "input"] : MESSAGE_FIELDS;
  const kept = Object.entries(value).filter(([key]) => !omitted.includes(key));
  const changes = [...omitted.map((key) => [key, null] as const), ["stream", "true"] as const];
  const changed = changedObject(text, members, changes);
  const made = { ...Object.fromEntries(kept), stream: true };
  const document = documentOf(changed.text, made, undefined, changed.members);
  return document.ok
    ? success({ document: document.value, isWarmUp: generate === false })
    : document;
}

function messageProblem({ value }: JsonDocument): Failed | null {
  const { type } = value;
  const streamId = streamIdOf(value);
  if (type !== "response.create") {
    return refuse("invalid_value", "Send messages of type 'response.create'.", "type");
  }
  return streamId === null || isStreamId(streamId) ? null : refuse(
    "invalid_value",
    `'stream_id' must be a text of 1 to ${MAX_STREAM_ID_CHARS} characters.`,
    "stream_id",
  );
}

function isStreamId(streamId: JsonValue): boolean {
  return typeof streamId === "string" && streamId !== "" && streamId.length <= MAX_STREAM_ID_CHARS;
}

function parseInnerRequest(message: JsonDocument): Result<JsonDocument> {
  const { text, value, members } = message;
  const inner = members.find(({ key }) => key === "response");
  const { response = null } = value;
  if (inner === undefined || response === null) return success(message);
  if (!isObject(response)) {
    return wrongField("response", "an object");
  }
  const stray = Object.keys(value).find((key) => !MESSAGE_FIELDS.includes(key));
  return stray === undefined ? documentOf(text.slice(inner.start, inner.end), response) : refuse(
    "invalid_parameter_combination",
    `'${stray}' is set beside 'response'; send all fields either at the top level or under 'response'.`,
    stray,
  );
}

/** True for an empty input list with a previous response, which clients send after a warm-up. */
function addsNothing(input: JsonValue | undefined, previous: JsonValue | undefined): boolean {
  return Array.isArray(input) && input.length === 0 && (previous ?? null) !== null;
}
