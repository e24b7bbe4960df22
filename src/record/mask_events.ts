import { isObject, parseExact } from "../core/json/json.ts";
import type { Span } from "../formats/edit.ts";
import { newSseFraming, sseText } from "../formats/sse.ts";
import { heldFrom } from "../privacy/search.ts";
import { type CheckTime, type MaskingRule, matchesInString } from "./mask_text.ts";
import { newStreamTexts, type PiecePlace } from "./stream_texts.ts";

/** A piece of a text that comes in several events. */
interface StreamPiece extends Omit<PiecePlace<never>, "pieces"> {
  readonly event: number;
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
  const texts = newStreamTexts<StreamPiece>();
  const values = events.map(({ data }, event) => {
    const value = /^\s*\{/.test(data) ? parseExact(data) : undefined;
    if (!isObject(value)) return value;
    for (const { object, name, pieces } of texts.placesIn(value)) {
      pieces.push({ event, object, name });
    }
    return value;
  });
  const changed = new Set<number>();
  for (const pieces of texts.all) {
    const joined = pieces.map(textOf).join("");
    const held = isCut ? heldFrom(joined, rules) : joined.length;
    const matches = matchesInString(joined, rules, checkTime);
    const kept = matches.filter(({ start }) => start < held);
    hideParts(pieces, [
      ...kept.map(({ start, end, label }) => ({ start, end, label: `[${label}]` })),
      { start: held, end: joined.length, label: "" },
    ], changed);
  }
  // The event that was cut may have the next piece of any of the texts.
  const isBegunLeftOut = isCut && texts.all.size > 0;
  if (changed.size === 0 && !isBegunLeftOut) return text;
  const begun = text.slice(events.reduce((sum, { raw }) => sum + (raw?.length ?? 0), 0));
  const written = events.map((event, at) =>
    changed.has(at) ? { ...event, data: JSON.stringify(values[at]), raw: null } : event
  );
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
  changed: Set<number>,
): void {
  let start = 0;
  let next = 0;
  for (const piece of pieces) {
    const text = textOf(piece);
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
      piece.object[piece.name] = written;
      changed.add(piece.event);
    }
    start = end;
  }
}

function textOf({ object, name }: StreamPiece): string {
  return String(object[name]);
}
