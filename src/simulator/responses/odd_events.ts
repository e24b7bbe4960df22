import { isObject, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { NativeQuirk } from "../quirks.ts";
import type { Chunk, Script } from "../voice.ts";
import type { Said } from "./events.ts";

/** The word at which a stream breaks its rule, when neither its first event nor its terminal does. */
const AT_WORD = 5;
/** A gateway may give up a stream that has so many records before its first event. */
const TOO_MANY = 1025;
const COMMENT = ": wait\n\n";

type Place = "created" | "word" | "terminal";

/** The records that stand in the place of one event. */
type Spoil = (event: JsonObject) => string;

interface Oddity {
  readonly place: Place;
  readonly spoil: Spoil;
}

/** A record of a Responses stream. */
export function record(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** The records of a stream, with the quirk of its script; the terminal is the last one. */
export function* recordsOf(events: readonly Said[], { quirk }: Script): Generator<Chunk> {
  const native = quirk?.of === "native" ? quirk : null;
  const oddity = native === null ? null : oddityOf(native.name, native.first);
  let words = 0;
  for (const [at, { event, word }] of events.entries()) {
    if (word) words++;
    const places = {
      created: at === 0,
      word: word && words === AT_WORD,
      terminal: at === events.length - 1,
    };
    const told = native?.name === "gaps" ? withGaps(event) : event;
    const isOdd = oddity !== null && places[oddity.place];
    yield { text: isOdd ? oddity.spoil(told) : plain(told), word };
  }
}

function oddityOf(quirk: NativeQuirk, first: boolean): Oddity | null {
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
      return { place: "created", spoil: (event) => COMMENT.repeat(2) + plain(event) };
    case "too-many-comments":
      return { place: "created", spoil: (event) => COMMENT.repeat(TOO_MANY) + plain(event) };
    case "no-sequence":
      return numbered(early, () => undefined);
    case "sequence-text":
      return numbered(early, String);
    case "sequence-fraction":
      return numbered(early, (number) => number + 0.5);
    case "sequence-repeats":
      return numbered("word", (number) => number - 1);
    case "sequence-negative":
      return numbered("created", () => -1);
    case "two-ids":
      return { place: "word", spoil: (event) => plain({ ...event, response_id: "resp_other" }) };
    case "terminal-id":
      return identified("terminal", () => "resp_other");
    case "padded-id":
      return identified(first ? "created" : "terminal", (id) => ` ${id}`);
    case "empty-id":
      return identified(first ? "created" : "terminal", () => "");
    case "no-id":
      return identified(first ? "created" : "terminal", () => undefined);
    case "no-response":
      return nested(first ? "created" : "terminal", () => undefined);
    case "status-mismatch":
      return nested("terminal", (response) => ({ ...response, status: "incomplete" }));
    case "event-mismatch":
      return { place: "terminal", spoil: (event) => record("response.failed", jsonOf(event)) };
    case "no-terminal":
      return { place: "terminal", spoil: () => "" };
    case "early-done":
      return { place: "terminal", spoil: () => "data: [DONE]\n\n" };
    case "two-terminals":
      return { place: "terminal", spoil: twice };
    case "not-json":
      return { place: early, spoil: (event) => record(String(event.type), '{"broken":') };
    case "not-object":
      return { place: early, spoil: (event) => record(String(event.type), "[1]") };
  }
}

function numbered(place: Place, change: (number: number) => JsonValue | undefined): Oddity {
  return {
    place,
    spoil: ({ type, sequence_number: number, ...rest }) =>
      plain({ type, sequence_number: change(Number(number)), ...rest }),
  };
}

function identified(place: Place, change: (id: string) => string | undefined): Oddity {
  return nested(place, ({ id, ...rest }) => ({ id: change(String(id)), ...rest }));
}

function nested(place: Place, change: (response: JsonObject) => JsonObject | undefined): Oddity {
  return {
    place,
    spoil: ({ response, ...rest }) =>
      plain({ ...rest, response: isObject(response) ? change(response) : undefined }),
  };
}

function twice(event: JsonObject): string {
  const number = Number(event.sequence_number);
  const place = { item_id: "msg_late", output_index: 0, content_index: 0 };
  const late = { type: "response.output_text.delta", sequence_number: number + 1, ...place };
  const again = { ...event, sequence_number: number + 2 };
  return plain(event) + plain({ ...late, delta: " late", logprobs: [] }) + plain(again);
}

function withGaps(event: JsonObject): JsonObject {
  const { type, sequence_number: number, ...rest } = event;
  return { type, sequence_number: 7 + 3 * Number(number), ...rest };
}

function plain(event: JsonObject): string {
  return record(String(event.type), jsonOf(event));
}

function jsonOf(event: JsonObject): string {
  return JSON.stringify(event);
}
