import type { StreamEvent } from "../../core/stream/events.ts";
import { isObject, type JsonObject, type JsonValue, parseExact } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { ITEM_BYTES, MAX_CALLS, tooManyCalls } from "../../core/stream/stream.ts";
import { newCallIds } from "../call_ids.ts";
import type { IdSource } from "../wire.ts";
import { malformed } from "../openai/errors.ts";
import { signatureEvent, signatureIn } from "./host_reasoning.ts";
import {
  type CallPiece,
  type FoundCall,
  indexIn,
  isCustomPiece,
  newCallFinder,
  textOf,
} from "./find_call.ts";

type Events = Result<readonly StreamEvent[]>;

/** Parses the tool calls of one message, complete or in deltas. */
export interface CallReader {
  /**
   * Returns the events of `tool_calls` and of the legacy `function_call`. `text` is the JSON text
   * that contains `message`.
   */
  read(message: JsonObject, text: string): Events;
  /**
   * Returns the events of calls that have a name but never received an ID. Fails if a call has no
   * name.
   */
  end(): Events;
  /** Returns the number of calls so far. */
  count(): number;
  /** Returns the bytes of the calls and of what is buffered of them. */
  heldBytes(): number;
}

/**
 * Maximum number of calls and call deltas that are buffered while an ID or a name is missing. It is
 * below the limit on records before commit, so a call without an ID never fails its attempt.
 */
const MAX_WAITING_PIECES = 512;

/** A call that has not been emitted. */
interface WaitingCall {
  /** Its arguments so far. */
  readonly pieces: string[];
  /** Characters of all that has arrived of it. */
  chars: number;
}

/** Maximum length of the buffered arguments, names, IDs and signatures. */
const MAX_WAITING_CHARS = 1024 * 1024;

/**
 * Index under which the legacy `function_call` is found. It is a string, so it cannot equal the
 * index of a list.
 */
const LEGACY = "legacy";

/**
 * Returns the parser of the calls of one message. Calls are emitted in their order, with name and
 * ID. Each ID is used once in a response; a missing ID is generated. In deltas the ID may arrive
 * after the arguments, so a call waits for its ID for a bounded number of deltas.
 */
export function newCallReader(idSource: IdSource, form: "whole" | "deltas"): CallReader {
  const finder = newCallFinder();
  const nameCall = newCallIds(idSource);
  /** Calls that have not been emitted, by position. */
  const waiting = new Map<number, WaitingCall>();
  /** Number of lists of calls so far. */
  let lists = 0;
  let announced = 0;
  let legacy: FoundCall | null = null;
  let waitsForIds = form === "deltas";
  let pieces = 0;
  let length = 0;

  function read(message: JsonObject, text: string): Events {
    const list = message.tool_calls ?? [];
    if (!Array.isArray(list)) return malformed("tool calls that are no list");
    if (list.length > MAX_CALLS) return tooManyCalls();
    const events: StreamEvent[] = [];
    lists += 1;
    let exact: readonly JsonValue[] | null = null;
    // The text is parsed at most once more, for any number of calls.
    const exactAt = (at: number) => (exact ??= exactCalls(text))[at];
    for (const [at, item] of list.entries()) {
      const piece = parsePiece(item, form === "whole" ? at : null, () => exactAt(at));
      if (!piece.ok) return piece;
      const call = finder.find(piece.value, lists);
      if (call.position < announced) sign(call, events);
      add(call, piece.value, events);
    }
    const older = message.function_call ?? null;
    if (older !== null) {
      const piece = parsePiece({ function: older }, LEGACY, () => undefined);
      if (!piece.ok) return piece;
      legacy = finder.find(piece.value, lists);
      add(legacy, piece.value, events);
    }
    return announceReady(events);
  }

  function add({ position }: FoundCall, piece: CallPiece, events: StreamEvent[]): void {
    const { text, id, name, signature } = piece;
    if (position < announced) {
      if (text !== "") events.push({ type: "tool_arguments", index: position, delta: text });
      return;
    }
    const call = waiting.get(position) ?? { pieces: [], chars: 0 };
    waiting.set(position, call);
    const signed = signature === null ? 0 : JSON.stringify(signature).length;
    const chars = text.length + id.length + name.length + signed;
    call.chars += chars;
    length += chars;
    if (text === "") return;
    call.pieces.push(text);
    pieces += 1;
  }

  function announceReady(events: StreamEvent[]): Events {
    announce(events);
    if (!isTooMuchWaiting()) return success(events);
    waitsForIds = false;
    announce(events);
    return isTooMuchWaiting() ? withoutName() : success(events);
  }

  function isTooMuchWaiting(): boolean {
    const calls = finder.calls.length - announced;
    return calls + pieces > MAX_WAITING_PIECES || length > MAX_WAITING_CHARS;
  }

  function announce(events: StreamEvent[]): void {
    for (
      let call = finder.calls[announced];
      call !== undefined && isReady(call);
      call = finder.calls[announced]
    ) {
      const { position, id, name, isCustom } = call;
      announced += 1;
      const kind = isCustom && { kind: "custom" } as const;
      sign(call, events);
      events.push({ type: "tool_call", index: position, id: nameCall(id), name, ...kind });
      const buffered = waiting.get(position);
      if (buffered === undefined) continue;
      waiting.delete(position);
      pieces -= buffered.pieces.length;
      length -= buffered.chars;
      const delta = buffered.pieces.join("");
      if (delta !== "") events.push({ type: "tool_arguments", index: position, delta });
    }
  }

  /** Emits a signature that has arrived, before its call or, if it is late, after it. */
  function sign(call: FoundCall, events: StreamEvent[]): void {
    if (call.signature !== null) events.push(signatureEvent(call.signature, call.position));
    call.signature = null;
  }

  /** True if the call can be emitted. The legacy call never has an ID. */
  function isReady(call: FoundCall): boolean {
    return call.name !== "" && (call.id !== "" || !waitsForIds || call === legacy);
  }

  return {
    read,
    end() {
      waitsForIds = false;
      const events: StreamEvent[] = [];
      announce(events);
      return announced === finder.calls.length ? success(events) : withoutName();
    },
    count: () => finder.calls.length,
    heldBytes: () => length + (pieces + finder.calls.length) * ITEM_BYTES,
  };
}

const CALL_TYPES: readonly JsonValue[] = ["function", "custom"];

/**
 * Returns one element of `tool_calls`. In a complete message each element is a call, numbered by
 * its position.
 */
function parsePiece(
  item: JsonValue,
  place: number | string | null,
  exact: () => JsonValue | undefined,
): Result<CallPiece> {
  if (!isObject(item) || !CALL_TYPES.includes(item.type ?? "function")) {
    return malformed("a tool call that is neither of a function nor of a custom tool");
  }
  const isCustom = isCustomPiece(item);
  const called = (isCustom ? item.custom : item.function) ?? {};
  if (!isObject(called)) return malformed("a malformed tool call");
  const written = (isCustom ? called.input : called.arguments) ?? "";
  const text = isCustom && isObject(written) ? null : argumentsText(written, exact);
  return text === null ? malformed("tool arguments that are no text") : success({
    id: textOf(item.id),
    name: textOf(called.name),
    text,
    isCustom,
    index: place ?? indexIn(item),
    signature: signatureIn(item),
  });
}

function withoutName(): Events {
  return malformed("a tool call without a name");
}

/**
 * Returns the arguments as text; null if malformed. Some servers send an object instead of its
 * text; its numbers must not change.
 */
function argumentsText(given: JsonValue, exact: () => JsonValue | undefined): string | null {
  if (typeof given === "string") return given;
  if (!isObject(given)) return null;
  const call = exact();
  const called = isObject(call) ? call.function : undefined;
  return JSON.stringify((isObject(called) ? called.arguments : undefined) ?? given);
}

/** Returns the tool calls in a JSON text, with numbers as exact text. */
function exactCalls(text: string): readonly JsonValue[] {
  const body = parseExact(text);
  const choices = isObject(body) ? body.choices : undefined;
  const choice = Array.isArray(choices)
    ? choices.filter(isObject).find(({ index }) => (index ?? 0) === 0)
    : undefined;
  const message = choice?.message ?? choice?.delta;
  const list = isObject(message) ? message.tool_calls : undefined;
  return Array.isArray(list) ? list : [];
}
