import type { StreamEvent } from "../../core/stream/events.ts";
import { isObject, isTooDeep, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { ITEM_BYTES, MAX_CALLS, tooManyCalls } from "../../core/stream/stream.ts";
import { malformed } from "../openai/errors.ts";
import { newCallIds } from "../call_ids.ts";
import type { Optional } from "../../prompt/refusals.ts";
import type { IdSource } from "../wire.ts";
import { type BegunItem, type CallType, isSame, parseItem, TEXT_FIELDS } from "./item.ts";
import { decodeTokens } from "./logprobs.ts";
import { type ItemPosition, newSpeech, type TextKind } from "./output_text.ts";

type Events = Result<readonly StreamEvent[]>;

/** The two forms of reasoning text. An item has only one of them. */
export type ReasoningForm = "content" | "summary";

/** A text delta or complete text of a part, and its position. */
export interface Piece {
  readonly kind: TextKind;
  /** Null if the part is not reasoning. */
  readonly form: ReasoningForm | null;
  readonly place: ItemPosition;
  readonly text: string;
  /** Logprobs of the text, if sent. */
  readonly tokens: readonly JsonObject[];
  /** True if the text is the complete text of the part, not only a delta. */
  readonly isWhole: boolean;
}

/** Parses the output of one response, in deltas or complete. */
export interface OutputReader {
  /** Starts an item. Its content is ignored here, because later events repeat it. */
  begin(index: number, item: Optional): Events;
  say(piece: Piece): Events;
  /** Returns the events of a text delta of a call, or of its complete text. */
  write(type: CallType, index: number, text: string, isWhole: boolean): Events;
  annotate(place: ItemPosition, annotation: JsonValue): Events;
  /** Returns the events of a complete item that no earlier event contained. */
  finish(index: number, item: Optional): Events;
  hasCalls(): boolean;
  /** True if an item has started that is not complete. */
  isOpen(): boolean;
  /** Returns the bytes that are held of the items and their parts. */
  heldBytes(): number;
}

interface Item extends BegunItem {
  /** Position among the calls of the response. */
  readonly callIndex: number;
  /** Length of the call's text so far. */
  written: number;
  isWhole: boolean;
  /** The form of the item's reasoning; null before its first text. */
  form: ReasoningForm | null;
}

/** The part types of a message. The text of a part is in the field with this name. */
const SPOKEN_PARTS: ReadonlyMap<Optional, "text" | "refusal"> = new Map([
  ["output_text", "text"],
  ["refusal", "refusal"],
]);

/**
 * Returns the parser of one response. Items are identified by their index: some servers change item
 * IDs from event to event.
 */
export function newOutputReader(idSource: Pick<IdSource, "uuid">): OutputReader {
  const items = new Map<number, Item>();
  const nameCall = newCallIds(idSource);
  let calls = 0;
  const speech = newSpeech();

  function begin(index: number, given: Optional): Events {
    const item = parseItem(given);
    if (!item.ok) return item;
    const known = items.get(index);
    if (known !== undefined) return isSame(known, item.value) ? success([]) : anotherItem();
    const { call } = item.value;
    const callIndex = calls;
    items.set(index, { ...item.value, callIndex, written: 0, isWhole: false, form: null });
    if (hasTooMany()) return tooManyCalls();
    if (call === null) return success([]);
    const { type, id, name } = call;
    calls += 1;
    const kind = type === "custom_tool_call" ? { kind: "custom" as const } : {};
    return success([{ type: "tool_call", index: callIndex, id: nameCall(id), name, ...kind }]);
  }

  function hasTooMany(): boolean {
    return items.size + speech.parts() > MAX_CALLS;
  }

  function say({ kind, form, place, text, tokens, isWhole }: Piece): Events {
    const item = items.get(place.item);
    if (item === undefined) return malformed("a piece of an item that has not begun");
    if (item.isWhole || item.type !== (form === null ? "message" : "reasoning")) {
      return anotherItem();
    }
    if (text !== "") item.form ??= form;
    if (item.form !== form && form !== null) return success([]);
    const events = isWhole
      ? speech.rest(kind, place, text, tokens)
      : speech.add(kind, place, text, tokens);
    return hasTooMany() ? tooManyCalls() : events;
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
    if (!rest.ok) return rest;
    return success([...begun.value, ...rest.value, ...encryptedItem(given)]);
  }

  function restOf(index: number, item: Item, given: JsonObject): Events {
    if (item.type === "message") return restOfParts(index, given.content, messagePart);
    if (item.type === "reasoning") {
      const form = item.form ?? (isFilled(given.content) ? "content" : "summary");
      return restOfParts(index, given[form] ?? [], reasoningPart(form));
    }
    if (item.call === null) return success([]);
    const { type } = item.call;
    const text = given[TEXT_FIELDS[type]];
    return typeof text === "string"
      ? write(type, index, text, true)
      : malformed("a malformed tool call");
  }

  function restOfParts(
    index: number,
    parts: Optional,
    read: (part: JsonObject, place: ItemPosition) => Events,
  ): Events {
    if (!Array.isArray(parts)) return malformed("an output item without content");
    const events: StreamEvent[] = [];
    for (const [at, part] of parts.entries()) {
      const partEvents = isObject(part)
        ? read(part, { item: index, part: at })
        : malformed("a part that is no object");
      if (!partEvents.ok) return partEvents;
      pushAll(events, partEvents.value);
    }
    return success(events);
  }

  function messagePart(part: JsonObject, place: ItemPosition): Events {
    const kind = SPOKEN_PARTS.get(part.type);
    const text = kind === undefined ? undefined : part[kind];
    if (kind === undefined || typeof text !== "string") {
      return malformed("a content part that has no place in a message");
    }
    const tokens = decodeTokens(kind === "text" ? part.logprobs : null);
    if (!tokens.ok) return tokens;
    const textEvents = say({ kind, form: null, place, text, tokens: tokens.value, isWhole: true });
    if (!textEvents.ok || !Array.isArray(part.annotations)) return textEvents;
    return success([...textEvents.value, ...speech.restOfAnnotations(place, part.annotations)]);
  }

  function reasoningPart(form: ReasoningForm): (part: JsonObject, place: ItemPosition) => Events {
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
    heldBytes: () => (items.size + speech.parts()) * ITEM_BYTES,
    isOpen: () => [...items.values()].some(({ isWhole }) => !isWhole),
  };
}

/**
 * Returns the event of a reasoning item that the upstream accepts back: only with its encrypted
 * content, because the upstream stores no item of these responses.
 */
function encryptedItem(item: JsonObject): readonly StreamEvent[] {
  const { type, encrypted_content: encrypted } = item;
  const isSent = type === "reasoning" && typeof encrypted === "string" && encrypted !== "";
  return isSent && !isTooDeep(item) ? [{ type: "reasoning_item", value: item }] : [];
}

function isFilled(parts: Optional): boolean {
  return Array.isArray(parts) && parts.length > 0;
}

function anotherItem(): Events {
  return malformed("an event that does not fit its item");
}
