import type { JsonObject } from "../../core/json/json.ts";
import type { Optional } from "../chat_request/refusals.ts";
import { type JsonProgress, newJsonProgress } from "./json_progress.ts";

/** A call as far as its pieces have shown it. */
export interface FoundCall {
  /** Its number among the calls of the message, from 0. */
  readonly position: number;
  /** As the upstream gave it; empty until then. */
  id: string;
  /** Empty until it is known. */
  name: string;
  readonly arguments: JsonProgress;
}

/** A piece of a call: an element of `tool_calls`. */
export interface CallPiece {
  readonly id: string;
  readonly name: string;
  /** The next piece of the arguments. */
  readonly text: string;
  /** The `index` that the upstream gave; null for none. */
  readonly index: Optional;
}

/** Finds the calls that the pieces of one message belong to. */
export interface CallFinder {
  /** Returns the call of the next piece, a new one where it begins one. `list` is what held the piece. */
  find(piece: CallPiece, list: readonly unknown[]): FoundCall;
  /** All calls so far, in the order in which they began. */
  readonly calls: readonly FoundCall[];
}

/** Returns the id of an element of `tool_calls`; empty for none. */
export function idOf({ id }: JsonObject): string {
  return textOf(id);
}

/** Returns the text, empty for what is none. */
export function textOf(value: Optional): string {
  return typeof value === "string" ? value : "";
}

/**
 * Returns a finder for a message in deltas. The `index` may be missing, and some servers give the
 * same one to every whole call; name and id may be repeated, and two calls may have one id. A piece
 * with another name begins another call, and so does one that names a call whose arguments are whole.
 */
export function newCallFinder(): CallFinder {
  const calls: FoundCall[] = [];
  const byIndex = new Map<Optional, FoundCall>();
  /** The last call with each id: a search of all calls for each would take quadratic time. */
  const byId = new Map<string, FoundCall>();
  /** The list in which a piece of each call came last. */
  const lists = new WeakMap<FoundCall, readonly unknown[]>();

  function find(piece: CallPiece, list: readonly unknown[]): FoundCall {
    const seeming = piece.index === null ? findUnnumbered(piece) : byIndex.get(piece.index);
    const isNew = seeming === undefined || isAnother(seeming, piece, list);
    const call = isNew ? begin(piece.index) : seeming;
    call.id ||= piece.id;
    if (call.id !== "") byId.set(call.id, call);
    call.name ||= piece.name;
    call.arguments.add(piece.text);
    lists.set(call, list);
    return call;
  }

  function begin(index: Optional): FoundCall {
    const call = { position: calls.length, id: "", name: "", arguments: newJsonProgress() };
    calls.push(call);
    if (index !== null) byIndex.set(index, call);
    return call;
  }

  /** Without an index: the call with that id, or the last one when nothing speaks of a new one. */
  function findUnnumbered({ id, name, text }: CallPiece): FoundCall | undefined {
    const last = calls.at(-1);
    if (id === "") return name === "" ? last : undefined;
    const isLate = last?.id === "" && (name === "" || (name === last.name && text === ""));
    return byId.get(id) ?? (isLate ? last : undefined);
  }

  function isAnother(call: FoundCall, { id, name, text }: CallPiece, list: readonly unknown[]) {
    if (name === "") return false;
    if (id !== "" && call.id !== "" && id !== call.id) return true;
    if (call.name === "") return false;
    if (name !== call.name) return true;
    // Whole calls come in one list, which names none of them twice.
    if (lists.get(call) === list) return true;
    return id === call.id && text !== "" && call.arguments.isWhole();
  }

  return { find, calls };
}
