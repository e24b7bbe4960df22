import { isObject, type JsonObject, objectsIn, parseExact, parseJson } from "../core/json/json.ts";
import { textBeginning } from "../core/text_beginning.ts";
import type { Span } from "../formats/edit.ts";
import { newSseFraming, sseText } from "../formats/sse.ts";
import { heldFrom } from "../privacy/search.ts";
import { type CheckTime, type MaskingRule, matchesInString } from "./mask_text.ts";

/** A piece of a text that comes in several events. */
interface StreamPiece {
  readonly event: number;
  /** Number of the piece among those of its event. */
  readonly place: number;
  readonly text: string;
}

/**
 * Returns the events of a stream in which the matches in texts are masked that come in pieces: the
 * first event has the label, the next ones lose their part. Of a stream that was cut, what may be
 * the beginning of a match at the end of its texts is left out, with the event that was cut.
 */
export function maskEvents(
  text: string,
  rules: readonly MaskingRule[],
  isCut: boolean,
  checkTime?: CheckTime,
): string {
  const events = newSseFraming().push(text);
  const channels = new Map<string, StreamPiece[]>();
  for (const [event, { data }] of events.entries()) {
    const value = /^\s*\{/.test(data) ? parseJson(data) : undefined;
    let place = 0;
    eachPiece(value, (channel, object, name) => {
      const pieces = channels.get(channel);
      const piece = { event, place: place++, text: String(object[name]) };
      if (pieces === undefined) channels.set(channel, [piece]);
      else pieces.push(piece);
    });
  }
  const changed = new Map<number, Map<number, string>>();
  for (const pieces of channels.values()) {
    const joined = pieces.map((piece) => piece.text).join("");
    const held = isCut ? heldFrom(joined, rules) : joined.length;
    const matches = matchesInString(joined, rules, checkTime);
    const kept = matches.filter(({ start }) => start < held);
    hideParts(pieces, [
      ...kept.map(({ start, end, label }) => ({ start, end, label: `[${label}]` })),
      { start: held, end: joined.length, label: "" },
    ], changed);
  }
  // The event that was cut may have the next piece of any of the texts.
  const isBegunLeftOut = isCut && channels.size > 0;
  if (changed.size === 0 && !isBegunLeftOut) return text;
  const begun = text.slice(events.reduce((sum, { raw }) => sum + (raw?.length ?? 0), 0));
  const written = events.map((event, at) => {
    const texts = changed.get(at);
    return texts === undefined
      ? event
      : { ...event, data: withTexts(event.data, texts), raw: null };
  });
  return sseText(written) + (isBegunLeftOut ? "" : begun);
}

/** A part of a text, with its replacement; an empty one for a part that is left out. */
interface HiddenPart extends Span {
  readonly label: string;
}

/**
 * Hides parts of a text in its pieces, also those in one piece alone: what is before them, which
 * may be in earlier pieces, can make them matches. The parts are in the order of the text: both
 * they and the pieces may be many.
 */
function hideParts(
  pieces: readonly StreamPiece[],
  hidden: readonly HiddenPart[],
  changed: Map<number, Map<number, string>>,
): void {
  let start = 0;
  let next = 0;
  for (const { event, place, text } of pieces) {
    const end = start + text.length;
    let written = "";
    let from = start;
    while ((hidden[next]?.end ?? Infinity) <= start) next++;
    for (let at = next; at < hidden.length; at++) {
      const one = hidden[at];
      if (one === undefined || one.start >= end) break;
      if (one.end <= from) continue;
      written += text.slice(from - start, Math.max(from, one.start) - start);
      if (one.start >= start) written += one.label;
      from = Math.min(one.end, end);
    }
    written += text.slice(from - start);
    if (written !== text) {
      const texts = changed.get(event) ?? new Map<number, string>();
      changed.set(event, texts.set(place, written));
    }
    start = end;
  }
}

/** Returns an event with other texts in the place of some pieces; its numbers keep their digits. */
function withTexts(data: string, texts: ReadonlyMap<number, string>): string {
  const value = parseExact(data);
  let place = 0;
  eachPiece(value, (_, object, name) => {
    object[name] = texts.get(place++) ?? object[name];
  });
  return JSON.stringify(value);
}

/** Members of events with a piece of a text. */
const TEXTS = [
  "content",
  "reasoning_content",
  "reasoning",
  "refusal",
  "transcript",
  "text",
  "thinking",
  "partial_json",
  "arguments",
  "input",
  "delta",
];

/** A member with a piece of a text, or the number of the text that it belongs to. */
const PIECE = new RegExp(
  String.raw`"(?:(?:index|output_index)"\s*:\s*(\d+)|(${
    TEXTS.join("|")
  })"\s*:\s*"((?:[^"\\]|\\.)*)")`,
  "g",
);

/**
 * Returns the texts that come in pieces in the events of a stream, with the escapes of JSON, those
 * of the same member as one: in a tenth of the time that reading the events takes. Null if pieces
 * of several texts may alternate, such as those of two choices: then the events must be read.
 */
export function rawStreamTexts(events: string): readonly string[] | null {
  const texts = new Map<string, string>();
  let last = 0;
  for (const [, written, name = "", piece = ""] of events.matchAll(PIECE)) {
    if (written === undefined) texts.set(name, (texts.get(name) ?? "") + piece);
    else {
      const number = Number(written);
      // The number may be before its piece or behind it.
      if (number < last) return null;
      last = number;
    }
  }
  return [...texts.values()];
}

/**
 * Levels of an event in which texts come in pieces, and characters of a name or an index in their
 * place: no protocol has more, and each piece has a place.
 */
const MAX_LEVEL_COUNT = 8, MAX_STEP_CHARS = 64;

/** Returns an index as a part of a place: a number that keeps its digits stays one. */
function indexIn({ index }: JsonObject): unknown {
  if (typeof index === "string") return textBeginning(index, MAX_STEP_CHARS);
  return isObject(index) || Array.isArray(index) ? null : index;
}

/**
 * Calls `visit` for each piece of a text in an event of any client API, with the name of its text
 * and its place.
 */
function eachPiece(
  event: unknown,
  visit: (channel: string, object: JsonObject, name: string) => void,
): void {
  if (!isObject(event)) return;
  // The place of a text as JSON: a number that keeps its digits has no other text.
  const visitPiece = (place: unknown[], object: JsonObject, name: string) =>
    visit(JSON.stringify([...place, name]), object, name);
  function visitTexts(value: unknown, place: unknown[], levels = MAX_LEVEL_COUNT): void {
    if (levels === 0) return;
    if (Array.isArray(value)) { for (const one of value) visitTexts(one, place, levels - 1); }
    if (!isObject(value)) return;
    const own = [...place, indexIn(value)];
    for (const [name, member] of Object.entries(value)) {
      if (typeof member !== "string") {
        visitTexts(member, [...own, textBeginning(name, MAX_STEP_CHARS)], levels - 1);
      } else if (TEXTS.includes(name)) visitPiece(own, value, name);
    }
  }
  const { delta, content_block, choices } = event;
  if (typeof delta === "string") {
    const { type, item_id, output_index, content_index, summary_index } = event;
    visitPiece([type, item_id, output_index, content_index, summary_index], event, "delta");
  }
  // A block may begin with the first piece of its text.
  for (const one of [content_block, delta]) visitTexts(one, [indexIn(event)]);
  for (const choice of objectsIn(choices)) {
    if (typeof choice.text === "string") visitPiece([indexIn(choice)], choice, "text");
    visitTexts(choice.delta, [indexIn(choice)]);
  }
}
