import { isObject, type JsonObject } from "../../core/json/json.ts";
import { keptName } from "../../core/text_beginning.ts";
import type { Optional } from "../../prompt/refusals.ts";
import { type JsonProgress, newJsonProgress } from "./json_progress.ts";

/** A tool call as assembled from the deltas so far. */
export interface FoundCall {
  /** Position among the calls of the message, from 0. */
  readonly position: number;
  /** ID sent by the upstream; empty until it arrives. */
  id: string;
  /** Function name; empty until it arrives. */
  name: string;
  /** True for the call of a custom tool, whose input is a text. */
  isCustom: boolean;
  readonly arguments: JsonProgress;
  /**
   * Number of the array that contained its last delta. The array itself is as large as its record.
   */
  list: number;
  /** Signature of the call by its host (`extra_content`); null until it arrives. */
  signature: JsonObject | null;
}

/** A delta of a tool call: an element of `tool_calls`. */
export interface CallPiece {
  readonly id: string;
  readonly name: string;
  /** The next part of the arguments, or of the input of a custom tool. */
  readonly text: string;
  /** True for a piece of the call of a custom tool. */
  readonly isCustom: boolean;
  /** The `index` sent by the upstream; null if absent. */
  readonly index: CallIndex | null;
  /** Its `extra_content`; null if absent. */
  readonly signature: JsonObject | null;
}

/** Index of a call in its message: a number, but some servers send a text. */
export type CallIndex = number | string;

/** Assigns the deltas of one message to tool calls. */
export interface CallFinder {
  /**
   * Returns the call that a delta belongs to, new or known. `list` is the number of the array that
   * contained the delta.
   */
  find(piece: CallPiece, list: number): FoundCall;
  /** All calls so far, in the order of their first delta. */
  readonly calls: readonly FoundCall[];
}

/** Returns the ID of an element of `tool_calls`; empty if absent. */
export function idOf({ id }: JsonObject): string {
  return textOf(id);
}

/**
 * Returns the index of an element of `tool_calls`, of a long text the beginning; null if absent.
 */
export function indexIn({ index }: JsonObject): CallIndex | null {
  if (typeof index === "string") return keptName(index);
  return typeof index === "number" ? index : null;
}

/** True for an element of `tool_calls` that is a piece of the call of a custom tool. */
export function isCustomPiece({ type, custom }: JsonObject): boolean {
  return type === "custom" || type !== "function" && isObject(custom);
}

/** Returns a string value; empty for any other value. */
export function textOf(value: Optional): string {
  return typeof value === "string" ? value : "";
}

/**
 * Returns a finder for the calls of a message in deltas. The `index` may be missing, and some
 * servers send the same index for every complete call. Name and ID may be repeated, and two calls
 * may share one ID. A delta with another name starts another call. So does a delta with a name
 * after the arguments of a call are complete.
 */
export function newCallFinder(): CallFinder {
  const calls: FoundCall[] = [];
  const byIndex = new Map<CallIndex, FoundCall>();
  /** The last call with each ID: a linear search for each delta would take quadratic time. */
  const byId = new Map<string, FoundCall>();

  function find(piece: CallPiece, list: number): FoundCall {
    const seeming = piece.index === null ? findUnnumbered(piece) : byIndex.get(piece.index);
    const isNew = seeming === undefined || isAnother(seeming, piece, list);
    const call = isNew ? begin(piece.index, list) : seeming;
    call.id ||= piece.id;
    if (call.id !== "") byId.set(call.id, call);
    call.name ||= piece.name;
    call.isCustom ||= piece.isCustom;
    call.arguments.add(piece.text);
    call.signature ??= piece.signature;
    call.list = list;
    return call;
  }

  function begin(index: CallIndex | null, list: number): FoundCall {
    const call: FoundCall = {
      position: calls.length,
      id: "",
      name: "",
      isCustom: false,
      arguments: newJsonProgress(),
      list,
      signature: null,
    };
    calls.push(call);
    if (index !== null) byIndex.set(index, call);
    return call;
  }

  /**
   * Finds the call of a delta without an index: the call with the same ID, or the last call if the
   * delta does not start a new one.
   */
  function findUnnumbered({ id, name, text }: CallPiece): FoundCall | undefined {
    const last = calls.at(-1);
    if (id === "") return name === "" ? last : undefined;
    const isLate = last?.id === "" && (name === "" || (name === last.name && text === ""));
    return byId.get(id) ?? (isLate ? last : undefined);
  }

  function isAnother(call: FoundCall, { id, name, text }: CallPiece, list: number) {
    if (name === "") return false;
    if (id !== "" && call.id !== "" && id !== call.id) return true;
    if (call.name === "") return false;
    if (name !== call.name) return true;
    // Servers that send complete calls send them in one array, each call once.
    if (call.list === list) return true;
    return id === call.id && text !== "" && !call.isCustom && call.arguments.isWhole();
  }

  return { find, calls };
}
