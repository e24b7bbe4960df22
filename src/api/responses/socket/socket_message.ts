import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "../../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../../core/result.ts";
import { checkItems, parseDocument } from "../../../formats/document.ts";
import { changeMembers, splice } from "../../../formats/edit.ts";

/** What a message over a socket asks for. */
export interface Frame {
  /** The request as it would come over HTTP, as a stream. */
  readonly document: JsonDocument;
  /** Nothing is to be generated: what it holds is only kept for the next turn. */
  readonly isWarmUp: boolean;
}

/** Belong to the message, not to the request in it. */
const OF_MESSAGE = ["type", "generate", "stream_id", "event_id", "response"];

/** So long may the name of a lane be: every event that answers its message repeats it. */
const LONGEST_LABEL = 256;

/** The lane that a message names, where it names one; everything that answers it repeats it. */
export function labelOf(message: JsonValue | undefined): string | null {
  const label = isObject(message) ? laneOf(message) : null;
  return typeof label === "string" && label !== "" ? label : null;
}

function laneOf({ stream_id: label, response }: JsonObject): JsonValue {
  return label ?? (isObject(response) ? response.stream_id : null) ?? null;
}

/** The message as a document; refused when it is none, and when it holds more than `maxItems` members and elements. */
export function readMessage(text: string, maxItems: number): Result<JsonDocument> {
  const document = checkItems(text, maxItems) ?? parseDocument(text);
  if (document.ok || document.failure.kind === "request_too_large") return document;
  return refuse(
    "invalid_json",
    "The message is not one JSON object with each key once; send one.",
    "type",
  );
}

/**
 * The request in a `response.create` message, whose fields stand at its top level or under
 * `response` (OpenAI API, Responses over WebSocket).
 */
export function readFrame(message: JsonDocument): Result<Frame> {
  const problem = messageProblem(message);
  if (problem !== null) return problem;
  const inner = innerOf(message);
  if (!inner.ok) return inner;
  const { text, value, members } = inner.value;
  const generate = message.value.generate ?? value.generate ?? null;
  if (generate !== null && typeof generate !== "boolean") {
    return refuse("invalid_type", "The field 'generate' must be a boolean.", "generate");
  }
  if (value.background === true) {
    return refuse(
      "unsupported_feature",
      "A response over a socket cannot be made in the background; use HTTP for that.",
      "background",
    );
  }
  const changes = [
    ...OF_MESSAGE.map((key) => [key, null] as const),
    ["stream", "true"] as const,
    ...(addsNothing(value.input, value.previous_response_id) ? [["input", null] as const] : []),
  ];
  const document = parseDocument(
    splice(text, changeMembers(text.indexOf("{"), members, changes)),
  );
  return document.ok
    ? success({ document: document.value, isWarmUp: generate === false })
    : document;
}

function messageProblem({ value }: JsonDocument): Failed | null {
  const { type } = value;
  const label = laneOf(value);
  if (type !== "response.create") {
    return refuse("invalid_value", "Send messages of type 'response.create'.", "type");
  }
  return label === null || isLabel(label) ? null : refuse(
    "invalid_value",
    `'stream_id' must be a text of 1 to ${LONGEST_LABEL} characters.`,
    "stream_id",
  );
}

function isLabel(label: JsonValue): boolean {
  return typeof label === "string" && label !== "" && label.length <= LONGEST_LABEL;
}

function innerOf(message: JsonDocument): Result<JsonDocument> {
  const { text, value, members } = message;
  const inner = members.find(({ key }) => key === "response");
  if (inner === undefined || (value.response ?? null) === null) return success(message);
  if (!isObject(value.response)) {
    return refuse("invalid_type", "The field 'response' must be an object.", "response");
  }
  const stray = Object.keys(value).find((key) => !OF_MESSAGE.includes(key));
  return stray === undefined ? parseDocument(text.slice(inner.start, inner.end)) : refuse(
    "invalid_parameter_combination",
    `'${stray}' stands beside 'response'; send all fields at one of the two places.`,
    stray,
  );
}

/** After a warm-up that held everything there is nothing to add: clients send an empty list then. */
function addsNothing(input: JsonValue | undefined, previous: JsonValue | undefined): boolean {
  return Array.isArray(input) && input.length === 0 && (previous ?? null) !== null;
}
