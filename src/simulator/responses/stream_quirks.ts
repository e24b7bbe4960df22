import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { NativeQuirk } from "../quirks.ts";
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

interface EventChange {
  readonly position: EventPosition;
  /** Returns the records that are sent instead of the event. */
  readonly replace: (event: JsonObject) => string;
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
  const change = native === null ? undefined : eventChange(native.name, native.first);
  let words = 0;
  for (const [at, { event, isWord }] of events.entries()) {
    if (isWord) words++;
    const places = {
      created: at === 0,
      word: isWord && words === QUIRK_WORD_INDEX,
      terminal: at === events.length - 1,
    };
    const sent = native?.name === "gaps" ? withGaps(event) : event;
    const applies = change !== undefined && places[change.position];
    yield { text: applies ? change.replace(sent) : encodeEvent(sent), isWord };
  }
}

/** Returns the change of a quirk; undefined if it changes no event. */
function eventChange(quirk: NativeQuirk, first: boolean): EventChange | undefined {
  const early = first ? "created" : "word";
  const late = first ? "created" : "terminal";
  const changes: { readonly [name in NativeQuirk]?: EventChange } = {
    comments: changeRecord("created", (event) => COMMENT.repeat(2) + encodeEvent(event)),
    "too-many-comments": changeRecord(
      "created",
      (event) => COMMENT.repeat(TOO_MANY_COMMENTS_COUNT) + encodeEvent(event),
    ),
    "no-sequence": changeNumber(early, () => undefined),
    "sequence-text": changeNumber(early, String),
    "sequence-fraction": changeNumber(early, (number) => number + 0.5),
    "sequence-repeats": changeNumber("word", (number) => number - 1),
    "sequence-negative": changeNumber("created", () => -1),
    "two-ids": changeRecord(
      "word",
      (event) => encodeEvent({ ...event, response_id: "resp_other" }),
    ),
    "terminal-id": changeId("terminal", () => "resp_other"),
    "padded-id": changeId(late, (id) => ` ${id}`),
    "empty-id": changeId(late, () => ""),
    "no-id": changeId(late, () => undefined),
    "no-response": changeResponse(late, () => undefined),
    "status-mismatch": changeResponse(
      "terminal",
      (response) => ({ ...response, status: "incomplete" }),
    ),
    "event-mismatch": changeRecord(
      "terminal",
      (event) => sseRecord("response.failed", JSON.stringify(event)),
    ),
    "no-terminal": changeRecord("terminal", () => ""),
    "early-done": changeRecord("terminal", () => "data: [DONE]\n\n"),
    "two-terminals": changeRecord("terminal", terminalTwice),
    "not-json": changeRecord(early, (event) => sseRecord(String(event.type), '{"broken":')),
    "not-object": changeRecord(early, (event) => sseRecord(String(event.type), "[1]")),
  };
  return changes[quirk];
}

function changeRecord(position: EventPosition, replace: EventChange["replace"]): EventChange {
  return { position, replace };
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
  return sseRecord(String(event.type), JSON.stringify(event));
}

/** The native quirks of a response without a stream. */
const REPLACEMENTS: {
  readonly [name in NativeQuirk]?: (resource: JsonObject, call: SimCall) => Answer;
} = {
  "no-id": ({ id: _id, ...rest }) => Response.json(rest),
  "padded-id": (resource) => Response.json({ ...resource, id: ` ${resource.id}` }),
  "empty-id": (resource) => Response.json({ ...resource, id: "" }),
  "no-response": (resource) => Response.json({ ...resource, object: "list" }),
  "not-json": (resource, call) => wholeResponse(resource, "json", call),
  "not-object": (resource) => Response.json([resource]),
  "status-202": (resource) => Response.json(resource, { status: 202 }),
  "status-503": () => newApiError("Simulated failure.", { status: 503 }),
};

/** Returns a whole JSON response with the quirk or defect of its output. */
export function wholeResponseWithQuirk(
  resource: JsonObject,
  output: ModelOutput,
  call: SimCall,
): Answer {
  const { quirk, defect } = output;
  const replace = quirk?.kind === "native" ? REPLACEMENTS[quirk.name] : undefined;
  return replace?.(resource, call) ?? wholeResponse(resource, defect, call);
}

/** Returns the status of a stream: 200, except for two quirks. */
export function streamStatus({ quirk }: ModelOutput): number {
  if (quirk?.name === "status-202") return 202;
  return quirk?.name === "status-503" ? 503 : 200;
}
