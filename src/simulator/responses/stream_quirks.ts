import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { NativeQuirk, Quirk } from "../quirks.ts";
import { type ModelOutput, newApiError, type StreamChunk } from "../protocol.ts";
import type { StreamEvent } from "./events.ts";
import { type Answer, type SimCall, wholeResponse } from "../sim_call.ts";

/**
 * The number of the word at which a quirk applies that is not placed at the first or terminal
 * event.
 */
const QUIRK_WORD_INDEX = 5;
/** A gateway may reject a stream with this number of records before its first event. */
const TOO_MANY_COMMENTS_COUNT = 1025;
const COMMENT = ": wait\n\n";

type EventPosition = "created" | "word" | "terminal";

/** Returns the records that are sent instead of an event. */
type ReplaceEvent = (event: JsonObject) => string;

interface EventChange {
  readonly position: EventPosition;
  readonly replace: ReplaceEvent;
}

/** Returns a record of a Responses stream. */
export function sseRecord(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** Yields the records of a stream, with the quirk of its output. The terminal event is the last. */
export function* encodeEvents(
  events: readonly StreamEvent[],
  { quirk }: ModelOutput,
): Generator<StreamChunk> {
  const native = quirk?.kind === "native" ? quirk : null;
  const change = native === null ? null : eventChange(native.name, native.first);
  let words = 0;
  for (const [at, { event, isWord }] of events.entries()) {
    if (isWord) words++;
    const places = {
      created: at === 0,
      word: isWord && words === QUIRK_WORD_INDEX,
      terminal: at === events.length - 1,
    };
    const sent = native?.name === "gaps" ? withGaps(event) : event;
    const applies = change !== null && places[change.position];
    yield { text: applies ? change.replace(sent) : encodeEvent(sent), isWord };
  }
}

function eventChange(quirk: NativeQuirk, first: boolean): EventChange | null {
  const early = first ? "created" : "word";
  switch (quirk) {
    case "gaps":
    case "failed":
    case "cancelled":
    case "status-202":
    case "status-503":
    case "later-id":
      return null;
    case "comments":
      return { position: "created", replace: (event) => COMMENT.repeat(2) + encodeEvent(event) };
    case "too-many-comments":
      return {
        position: "created",
        replace: (event) => COMMENT.repeat(TOO_MANY_COMMENTS_COUNT) + encodeEvent(event),
      };
    case "no-sequence":
      return changeNumber(early, () => undefined);
    case "sequence-text":
      return changeNumber(early, String);
    case "sequence-fraction":
      return changeNumber(early, (number) => number + 0.5);
    case "sequence-repeats":
      return changeNumber("word", (number) => number - 1);
    case "sequence-negative":
      return changeNumber("created", () => -1);
    case "two-ids":
      return {
        position: "word",
        replace: (event) => encodeEvent({ ...event, response_id: "resp_other" }),
      };
    case "terminal-id":
      return changeId("terminal", () => "resp_other");
    case "padded-id":
      return changeId(first ? "created" : "terminal", (id) => ` ${id}`);
    case "empty-id":
      return changeId(first ? "created" : "terminal", () => "");
    case "no-id":
      return changeId(first ? "created" : "terminal", () => undefined);
    case "no-response":
      return changeResponse(first ? "created" : "terminal", () => undefined);
    case "status-mismatch":
      return changeResponse("terminal", (response) => ({ ...response, status: "incomplete" }));
    case "event-mismatch":
      return {
        position: "terminal",
        replace: (event) => sseRecord("response.failed", toJson(event)),
      };
    case "no-terminal":
      return { position: "terminal", replace: () => "" };
    case "early-done":
      return { position: "terminal", replace: () => "data: [DONE]\n\n" };
    case "two-terminals":
      return { position: "terminal", replace: terminalTwice };
    case "not-json":
      return { position: early, replace: (event) => sseRecord(String(event.type), '{"broken":') };
    case "not-object":
      return { position: early, replace: (event) => sseRecord(String(event.type), "[1]") };
  }
}

function changeNumber(
  position: EventPosition,
  change: (number: number) => JsonValue | undefined,
): EventChange {
  return {
    position,
    replace: ({ type, sequence_number: number, ...rest }) =>
      encodeEvent({ type, sequence_number: change(Number(number)), ...rest }),
  };
}

function changeId(
  position: EventPosition,
  change: (id: string) => string | undefined,
): EventChange {
  return changeResponse(position, ({ id, ...rest }) => ({ id: change(String(id)), ...rest }));
}

function changeResponse(
  position: EventPosition,
  change: (response: JsonObject) => JsonObject | undefined,
): EventChange {
  return {
    position,
    replace: ({ response, ...rest }) =>
      encodeEvent({ ...rest, response: isObject(response) ? change(response) : undefined }),
  };
}

function terminalTwice(event: JsonObject): string {
  const number = Number(event.sequence_number);
  const position = { item_id: "msg_late", output_index: 0, content_index: 0 };
  const late = { type: "response.output_text.delta", sequence_number: number + 1, ...position };
  const again = { ...event, sequence_number: number + 2 };
  return encodeEvent(event) + encodeEvent({ ...late, delta: " late", logprobs: [] }) +
    encodeEvent(again);
}

function withGaps(event: JsonObject): JsonObject {
  const { type, sequence_number: number, ...rest } = event;
  return { type, sequence_number: 7 + 3 * Number(number), ...rest };
}

function encodeEvent(event: JsonObject): string {
  return sseRecord(String(event.type), toJson(event));
}

function toJson(event: JsonObject): string {
  return JSON.stringify(event);
}

type ReplaceResponse = (resource: JsonObject, call: SimCall) => Answer;

/** The native quirks of a response without a stream. */
const REPLACEMENTS: ReadonlyMap<Quirk["name"] | undefined, ReplaceResponse> = new Map<
  Quirk["name"],
  ReplaceResponse
>([
  ["no-id", ({ id: _id, ...rest }) => Response.json(rest)],
  ["padded-id", (resource) => Response.json({ ...resource, id: ` ${resource.id}` })],
  ["empty-id", (resource) => Response.json({ ...resource, id: "" })],
  ["no-response", (resource) => Response.json({ ...resource, object: "list" })],
  ["not-json", (resource, call) => wholeResponse(resource, "json", call)],
  ["not-object", (resource) => Response.json([resource])],
  ["status-202", (resource) => Response.json(resource, { status: 202 })],
  ["status-503", () => newApiError("Simulated failure.", { status: 503 })],
]);

/** Returns a whole JSON response with the quirk or defect of its output. */
export function wholeResponseWithQuirk(
  resource: JsonObject,
  output: ModelOutput,
  call: SimCall,
): Answer {
  const { quirk, defect } = output;
  const replace = quirk?.kind === "native" ? REPLACEMENTS.get(quirk.name) : undefined;
  return replace?.(resource, call) ?? wholeResponse(resource, defect, call);
}

/** Returns the status of a stream: 200, except for two quirks. */
export function streamStatus({ quirk }: ModelOutput): number {
  if (quirk?.name === "status-202") return 202;
  return quirk?.name === "status-503" ? 503 : 200;
}
