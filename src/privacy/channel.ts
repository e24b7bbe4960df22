import type { AnswerText, Part, TextKind } from "./answer_text.ts";

/** A string of an event that is not delivered yet. */
export interface Slot {
  /** Text that the client gets so far. */
  text: string;
  /** True while more of it may be decided. */
  isOpen: boolean;
}

/** One text of a stream, whose pieces are strings of several events. */
export interface Channel {
  /** Adds the piece of the next event, which fills its slot now or later, or more of the last. */
  push(slot: Slot, text: string): void;
  /** Decides everything: the text is over, or nothing more can be held. */
  end(): void;
  /** True while a slot is open. */
  isHolding(): boolean;
}

/** A piece of a channel of which not everything is decided. */
interface Segment {
  readonly slot: Slot;
  text: string;
}

/** Decided text that the finders of rules may look back at. */
const MAX_CONTEXT_CHARS = 64;

/**
 * Returns a channel without text. What is decided is delivered in the event that has brought it, a
 * value in the event in which its token begins. Undecided text of more than `maxHeld` events moves
 * on to the later ones.
 */
export function newChannel(
  whole: AnswerText,
  kind: TextKind,
  maxHeld: number,
  onDecided: (text: string, parts: readonly Part[]) => void = () => {},
): Channel {
  const answer = whole.inStream();
  let segments: Segment[] = [];
  let context = "";
  /** Where matches in the context may begin: the character before it is no beginning of a text. */
  let first = 0;

  function decide(cutOf: (text: string) => number): void {
    const held = segments.length === 1
      ? segments[0]?.text ?? ""
      : segments.map(({ text }) => text).join("");
    const text = context + held;
    const from = context.length;
    const parts = answer.parts(text, kind, first).filter(({ start, end, rule }) =>
      // Of a token whose beginning was delivered the rest is text.
      end > from && (rule !== null || start >= from)
    );
    let cut = Math.max(from, cutOf(text));
    for (const { start, end } of parts) {
      if (start < cut && end > cut) cut = Math.max(from, start);
    }
    const decided = parts.filter(({ end }) => end <= cut);
    deliver(text, { from, cut, parts: decided.filter((part) => part.text !== null) });
    for (const part of decided) answer.count(part);
    onDecided(
      text.slice(from, cut),
      decided.map((part) => ({
        ...part,
        start: Math.max(0, part.start - from),
        end: part.end - from,
      })),
    );
    if (!answer.searchesAll) return;
    const replaced = decided.findLast((part) => part.text !== null)?.end ?? first;
    const begin = Math.max(replaced, cut - MAX_CONTEXT_CHARS);
    first = Math.min(begin, 1);
    context = text.slice(begin - first, cut);
  }

  /** Fills the slots with the text between `from` and `cut`, and keeps the rest. */
  function deliver(
    text: string,
    { from, cut, parts }: {
      readonly from: number;
      readonly cut: number;
      readonly parts: readonly Part[];
    },
  ): void {
    const rest: Segment[] = [];
    let next = 0;
    let end = from;
    for (const segment of segments) {
      const begin = end;
      end += segment.text.length;
      const limit = Math.min(end, cut);
      for (let at = begin; at < limit;) {
        const part = parts[next];
        if (part === undefined || part.start >= limit) {
          segment.slot.text += text.slice(at, limit);
          break;
        }
        const start = Math.max(part.start, from);
        if (at <= start) {
          segment.slot.text += text.slice(at, start) + (part.text ?? "");
          at = start;
        }
        at = Math.min(part.end, limit);
        if (part.end <= limit) next += 1;
      }
      if (end <= cut) segment.slot.isOpen = false;
      else rest.push({ slot: segment.slot, text: text.slice(Math.max(cut, begin), end) });
    }
    for (; rest.length > maxHeld; rest.shift()) {
      const [first, second] = rest;
      if (first === undefined || second === undefined) break;
      second.text = first.text + second.text;
      first.slot.isOpen = false;
    }
    segments = rest;
  }

  return {
    push(slot, text) {
      if (text === "") return void (slot.isOpen = false);
      const last = segments.at(-1);
      if (last?.slot === slot) last.text += text;
      else segments.push({ slot, text });
      slot.isOpen = true;
      decide((whole) => answer.heldFrom(whole, kind));
    },
    end() {
      if (segments.length > 0) decide((whole) => whole.length);
    },
    isHolding: () => segments.length > 0,
  };
}
