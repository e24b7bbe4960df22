import { Buffer } from "node:buffer";
import type { FinishReason, StreamEvent } from "../../core/stream/events.ts";
import type { Fault } from "../../core/failure/failure.ts";
import { type Failed, responseTooLarge } from "../../core/failure/result.ts";
import { type Codec, EVENT_BYTES } from "../../core/stream/stream.ts";
import type { CheckBudget, ResponsePromise } from "../../prompt/response_promise.ts";

/**
 * One check or change of the events of a response. A check returns the same events, some of them
 * later, or a failure. At the finish event it returns all that it held back.
 */
export interface Stage extends Codec<StreamEvent, StreamEvent> {
  /** True while a call is held back that may have any number of records. */
  isHolding(): boolean;
  /** Returns the bytes that are held back or stored for the check. */
  heldBytes(): number;
}

/** Returns the failure of a response that breaks a promise; `what` continues "The response". */
export type Breaks = (promise: ResponsePromise, what: string) => Failed<Fault>;

/** Settings of all stages of one response. */
export interface StageOptions {
  /** False for a whole response, in which nothing waits, so that nothing is limited. */
  readonly isStream: boolean;
  readonly breaks: Breaks;
  /** Budget of all checks of the response. */
  readonly budget: CheckBudget;
}

/** Maximum number of events that wait for a call: the limit of records before the commit. */
const MAX_WAITING_EVENTS = 1_024;

/** Maximum size of the events that a stage holds back: the limit of bytes before the commit. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

/** Events that a stage holds back, in their order. */
export interface HeldEvents {
  /** Adds an event. A failure if it is more than a stream may hold back. */
  add(event: StreamEvent): Failed<Fault> | null;
  isEmpty(): boolean;
  /** True if more events are held than may wait for a call. */
  isOverdue(): boolean;
  /** Returns the oldest event; undefined if there is none. */
  first(): StreamEvent | undefined;
  /** Replaces the oldest event by a part of it, or removes it. */
  replaceFirst(rest: StreamEvent | null): void;
  /** Removes and returns all events. */
  takeAll(): readonly StreamEvent[];
  /** Returns the size of all events. */
  bytes(): number;
}

/** Returns an empty list of held events. */
export function newHeldEvents({ isStream }: StageOptions): HeldEvents {
  let events: StreamEvent[] = [];
  /** Index of the oldest event: removing it from the array would move all others. */
  let head = 0;
  let bytes = 0;

  function takeAll(): readonly StreamEvent[] {
    const taken = head === 0 ? events : events.slice(head);
    events = [];
    head = 0;
    bytes = 0;
    return taken;
  }

  return {
    add(event) {
      events.push(event);
      bytes += sizeOf(event);
      return isStream && bytes > MAX_HELD_BYTES ? tooMuchHeld() : null;
    },
    isEmpty: () => head === events.length,
    isOverdue: () => isStream && events.length - head > MAX_WAITING_EVENTS,
    first: () => events[head],
    replaceFirst(rest) {
      const before = events[head];
      if (before === undefined) return;
      bytes -= sizeOf(before) - (rest === null ? 0 : sizeOf(rest));
      if (rest !== null) events[head] = rest;
      else if (++head === events.length) takeAll();
    },
    takeAll,
    bytes: () => bytes,
  };
}

function sizeOf(event: StreamEvent): number {
  return EVENT_BYTES + textBytes(event);
}

function textBytes(event: StreamEvent): number {
  switch (event.type) {
    case "tool_call":
      return Buffer.byteLength(event.id + event.name + (event.arguments ?? ""));
    case "thinking_block":
    case "reasoning_item":
    case "annotation":
      return Buffer.byteLength(JSON.stringify(event.value));
    case "start":
    case "usage":
    case "finish":
      return 0;
    default:
      return Buffer.byteLength(event.delta);
  }
}

/** Returns the fault of a stream that has more than can be held back or stored for its check. */
export function tooMuchHeld(): Failed<Fault> {
  return responseTooLarge(
    "The provider's response holds more than can be held back for its check.",
  );
}

/**
 * True if a response may be cut at any character: then JSON in it may be incomplete, and the finish
 * reason says so to the client (OpenAI API, structured outputs).
 */
export function isCutBy(reason: FinishReason): boolean {
  return reason === "length" || reason === "content_filter";
}
