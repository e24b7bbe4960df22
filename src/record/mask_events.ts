import { isObject, type JsonObject, parseExact } from "../core/json/json.ts";
import type { Span } from "../formats/edit.ts";
import { newSseFraming, sseText } from "../formats/sse.ts";
import { heldFrom } from "../privacy/search.ts";
import { type CheckTime, type MaskingRule, matchesInString } from "./mask_text.ts";
import { channelsIn, type StreamPiece } from "./searched_texts.ts";

/** Members of an event that say what it is, and are no text. */
const FACTS: ReadonlySet<string> = new Set(["type", "role", "id", "stop_reason"]);

/**
 * Returns the events of a stream in which matches that lie over several of them are masked: the
 * first one has the label, the others lose their part. Of a stream that was cut, what may be the
 * beginning of a match at the end of its texts is left out, with the event that was cut.
 * Matches within one event stay. `rulesOf` returns the rules that may match in a text.
 */
export function maskEvents(
  text: string,
  rulesOf: (text: string) => readonly MaskingRule[],
  isCut: boolean,
  checkTime?: CheckTime,
): string {
  const framing = newSseFraming();
  const events = framing.push(text);
  const values = events.map(({ data }) => {
    const value = data.startsWith("{") ? parseExact(data) : undefined;
    return isObject(value) ? value : null;
  });
  const changed = new Set<JsonObject>();
  const channels = channelsIn(values.filter((value) => value !== null));
  for (const pieces of channels) {
    const [first] = pieces;
    if (first === undefined || FACTS.has(first.name)) continue;
    const joined = pieces.map((piece) => piece.text).join("");
    const rules = rulesOf(joined);
    const held = isCut ? heldFrom(joined, rules) : joined.length;
    const matches = matchesInString(joined, rules, checkTime);
    maskPieces(pieces, [
      ...matches.map(({ start, end, label }) => ({ start, end, label: `[${label}]` })),
      { start: held, end: joined.length, label: "" },
    ], changed);
  }
  // The event that was cut may have the next piece of any of the texts.
  const isBegunLeftOut = isCut && channels.length > 0;
  if (changed.size === 0 && !isBegunLeftOut) return text;
  const begun = text.slice(events.reduce((sum, { raw }) => sum + (raw?.length ?? 0), 0));
  const written = events.map((event, at) => {
    const value = values[at] ?? null;
    const isSame = value === null || !changed.has(value);
    return isSame ? event : { ...event, data: JSON.stringify(value), raw: null };
  });
  return sseText(written) + (isBegunLeftOut ? "" : begun);
}

/** A part of a text, and what stands in its place; empty for a part that is left out. */
interface HiddenPart extends Span {
  readonly label: string;
}

/** Hides parts of a text in its pieces, except those with a label in one piece alone. */
function maskPieces(
  pieces: readonly StreamPiece[],
  hidden: readonly HiddenPart[],
  changed: Set<JsonObject>,
): void {
  let start = 0;
  for (const { event, object, name, text } of pieces) {
    const end = start + text.length;
    let written = "";
    let from = start;
    for (const one of hidden) {
      const isWithin = one.label !== "" && one.start >= start && one.end <= end;
      if (one.end <= from || one.start >= end || isWithin) continue;
      written += text.slice(from - start, Math.max(from, one.start) - start);
      if (one.start >= start) written += one.label;
      from = Math.min(one.end, end);
    }
    written += text.slice(from - start);
    if (written !== text) {
      object[name] = written;
      changed.add(event);
    }
    start = end;
  }
}
