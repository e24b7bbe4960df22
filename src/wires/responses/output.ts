import type { StreamEvent } from "../../core/events.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { type Result, success } from "../../core/result.ts";
import { malformed } from "../openai/errors.ts";
import { newCallIds } from "../call_ids.ts";
import type { Optional } from "../chat_request/refusals.ts";
import type { IdSource } from "../wire.ts";
import { type BegunItem, type CallType, isSame, readItem, WRITTEN } from "./item.ts";
import { tokensOf } from "./logprobs.ts";
import { newSpeech, type Place, type Spoken } from "./speech.ts";

type Events = Result<readonly StreamEvent[]>;

/** The two forms of reasoning, of which an item is told in one. */
export type ReasoningForm = "content" | "summary";

/** A piece of what is said, and where it stands. */
export interface Piece {
  readonly kind: Spoken;
  /** Null for what is no reasoning. */
  readonly form: ReasoningForm | null;
  readonly place: Place;
  readonly text: string;
  /** The tokens of the text, where they are told. */
  readonly tokens: readonly JsonObject[];
  /** The text is that of the whole part, not only its next piece. */
  readonly isWhole: boolean;
}

/** Reads the output of one response, in pieces or whole. */
export interface OutputReader {
  /** An item has begun. Its content is told later: what it holds already is not looked at. */
  begin(index: number, item: Optional): Events;
  say(piece: Piece): Events;
  /** A piece of what the model wrote for the call of that type and place, or all of it. */
  write(type: CallType, index: number, text: string, isWhole: boolean): Events;
  annotate(place: Place, annotation: JsonValue): Events;
  /** An item that is whole: what of it has not been told yet. */
  finish(index: number, item: Optional): Events;
  hasCalls(): boolean;
  /** An item has begun that is not whole. */
  isOpen(): boolean;
}

interface Item extends BegunItem {
  /** Which of the answer's calls it is. */
  readonly callIndex: number;
  /** Length of what has been written for the call so far. */
  written: number;
  isWhole: boolean;
  /** The form in which its reasoning is told. */
  form: ReasoningForm | null;
}

/** The parts of a message; what is said in one stands in the member of that name. */
const SPOKEN_PARTS: ReadonlyMap<Optional, "text" | "refusal"> = new Map([
  ["output_text", "text"],
  ["refusal", "refusal"],
]);

/** Items are told apart by their index: some servers change the ids of items from event to event. */
export function outputReader(mint: Pick<IdSource, "uuid">): OutputReader {
  const items = new Map<number, Item>();
  const nameCall = newCallIds(mint);
  let calls = 0;
  const speech = newSpeech();

  function begin(index: number, given: Optional): Events {
    const item = readItem(given);
    if (!item.ok) return item;
    const known = items.get(index);
    if (known !== undefined) return isSame(known, item.value) ? success([]) : anotherItem();
    const { call } = item.value;
    const callIndex = calls;
    items.set(index, { ...item.value, callIndex, written: 0, isWhole: false, form: null });
    if (call === null) return success([]);
    const { type, id, name } = call;
    calls += 1;
    const kind = type === "custom_tool_call" ? { kind: "custom" as const } : {};
    return success([{ type: "tool_call", index: callIndex, id: nameCall(id), name, ...kind }]);
  }

  function say({ kind, form, place, text, tokens, isWhole }: Piece): Events {
    const item = items.get(place.item);
    if (item === undefined) return malformed("a piece of an item that has not begun");
    if (item.isWhole || item.type !== (form === null ? "message" : "reasoning")) {
      return anotherItem();
    }
    if (text !== "") item.form ??= form;
    if (item.form !== form && form !== null) return success([]);
    return isWhole ? speech.rest(kind, place, text, tokens) : speech.add(kind, place, text, tokens);
  }

  function write(type: CallType, index: number, text: string, isWhole: boolean): Events {
    const item = items.get(index);
    if (item?.type !== type || item.isWhole) return malformed("arguments without a call");
    if (isWhole && text.length < item.written) {
      return malformed("arguments that are shorter than their pieces");
    }
    const delta = isWhole ? text.slice(item.written) : text;
    item.written += delta.length;
    return success(delta === "" ? [] : [{ type: "tool_arguments", index: item.callIndex, delta }]);
  }

  function finish(index: number, given: Optional): Events {
    const begun = begin(index, given);
    const item = items.get(index);
    if (!begun.ok || item === undefined || !isObject(given) || item.isWhole) return begun;
    const rest = restOf(index, item, given);
    item.isWhole = true;
    return rest.ok ? success([...begun.value, ...rest.value]) : rest;
  }

  function restOf(index: number, item: Item, given: JsonObject): Events {
    if (item.type === "message") return restOfParts(index, given.content, messagePart);
    if (item.type === "reasoning") {
      const form = item.form ?? (isFilled(given.content) ? "content" : "summary");
      return restOfParts(index, given[form] ?? [], reasoningPart(form));
    }
    if (item.call === null) return success([]);
    const { type } = item.call;
    const text = given[WRITTEN[type]];
    return typeof text === "string"
      ? write(type, index, text, true)
      : malformed("a malformed tool call");
  }

  function restOfParts(
    index: number,
    parts: Optional,
    read: (part: JsonObject, place: Place) => Events,
  ): Events {
    if (!Array.isArray(parts)) return malformed("an output item without content");
    const events: StreamEvent[] = [];
    for (const [at, part] of parts.entries()) {
      const told = isObject(part)
        ? read(part, { item: index, part: at })
        : malformed("a part that is no object");
      if (!told.ok) return told;
      pushAll(events, told.value);
    }
    return success(events);
  }

  function messagePart(part: JsonObject, place: Place): Events {
    const kind = SPOKEN_PARTS.get(part.type);
    const text = kind === undefined ? undefined : part[kind];
    if (kind === undefined || typeof text !== "string") {
      return malformed("a content part that has no place in a message");
    }
    const tokens = tokensOf(kind === "text" ? part.logprobs : null);
    if (!tokens.ok) return tokens;
    const said = say({ kind, form: null, place, text, tokens: tokens.value, isWhole: true });
    if (!said.ok || !Array.isArray(part.annotations)) return said;
    return success([...said.value, ...speech.restOfAnnotations(place, part.annotations)]);
  }

  function reasoningPart(form: ReasoningForm): (part: JsonObject, place: Place) => Events {
    return ({ text }, place) =>
      typeof text === "string"
        ? say({ kind: "reasoning", form, place, text, tokens: [], isWhole: true })
        : malformed("reasoning without text");
  }

  return {
    begin,
    say,
    write,
    annotate(place, annotation) {
      const item = items.get(place.item);
      return item?.type === "message" && !item.isWhole
        ? success(speech.annotate(place, annotation))
        : anotherItem();
    },
    finish,
    hasCalls: () => calls > 0,
    isOpen: () => [...items.values()].some(({ isWhole }) => !isWhole),
  };
}

function isFilled(parts: Optional): boolean {
  return Array.isArray(parts) && parts.length > 0;
}

function anotherItem(): Events {
  return malformed("an event that does not fit its item");
}
