import { isObject, type JsonObject } from "../../core/json/json.ts";
import { newCallIds } from "../../wires/call_ids.ts";
import {
  type CallPiece,
  type FoundCall,
  indexIn,
  isCustomPiece,
  newCallFinder,
  textOf,
} from "../../wires/compat/find_call.ts";
import {
  newNumberReader,
  type NumberedFunctions,
  type NumberReader,
} from "../../wires/compat/text_enums.ts";
import { ITEM_BYTES } from "../../core/stream/stream.ts";
import type { IdSource } from "../../wires/wire.ts";
import { type Change, numbersBack } from "./relay_edits.ts";

/** Dependencies of the relay of a stream's calls. */
export interface CallOptions {
  readonly idSource: Pick<IdSource, "uuid">;
  /** The functions whose numbers the upstream gets as texts; absent for none. */
  readonly numbered?: NumberedFunctions;
}

/** A tool call as it is sent to the client. */
export interface RelayedCall {
  readonly index: number;
  /** Null until the upstream has sent it. */
  id: string | null;
}

/** The edits for one element of `tool_calls` in a delta. */
export interface ReadPiece {
  readonly changes: readonly Change[];
  /** The tool call that this piece begins without an id; null for any other piece. */
  readonly open: RelayedCall | null;
}

/** The tool calls of one choice of a relayed stream. */
export interface ChoiceCalls {
  /**
   * Returns the edits for an element of the array with the number `list`; most elements need none.
   */
  read(item: JsonObject, list: number): ReadPiece;
  /** True while a call has no id. */
  isOpen(): boolean;
  /** Assigns ids of the gateway to the calls without an id. */
  nameOpenCalls(): void;
  /** Returns the number of calls so far. */
  count(): number;
  /** Returns the bytes of the calls. */
  heldBytes(): number;
}

const UNCHANGED: ReadPiece = { changes: [], open: null };

/**
 * Returns the reader of the tool calls of one choice. Clients distinguish calls by index and answer
 * them by id, so each call gets a unique index and id, and the id comes with its first piece. The
 * upstream's values are used unless another call already has them.
 */
export function newChoiceCalls({ idSource, numbered }: CallOptions): ChoiceCalls {
  const finder = newCallFinder();
  const nameCall = newCallIds(idSource);
  const relayed = new Map<FoundCall, RelayedCall>();
  const readers = new Map<FoundCall, NumberReader>();
  const open = new Set<RelayedCall>();
  const indexes = new Set<number>();
  let next = 0;
  /** Characters of the ids and names of all calls. */
  let idChars = 0;
  /** Bytes of the readers of numbers. */
  let readerBytes = 0;

  function read(item: JsonObject, list: number): ReadPiece {
    const found = finder.find(parsePiece(item), list);
    const known = relayed.get(found);
    const call = known ?? begin(found, item);
    const changes: Change[] = [...numberChanges(found, item)];
    // Clients accept a first call without an index, so it is forwarded unchanged.
    const isUnderstood = found.position === 0 && (item.index ?? null) === null;
    if (!isUnderstood && item.index !== call.index) changes.push(["index", String(call.index)]);
    const id = textOf(item.id);
    if (known === undefined) {
      if (call.id === null) return { changes, open: call };
      if (call.id !== id) changes.push(["id", JSON.stringify(call.id)]);
    } else if (id !== "") {
      if (call.id === null) close(call, id, changes);
      // The client already has another id for this call, and some clients concatenate ids.
      else if (call.id !== id) changes.push(["id", null]);
    }
    return changes.length === 0 ? UNCHANGED : { changes, open: null };
  }

  /** Returns the change of a piece of arguments in which the host has numbers as texts. */
  function numberChanges(found: FoundCall, item: JsonObject): readonly Change[] {
    const numbers = numbered?.get(found.name);
    if (numbers === undefined) return [];
    const reader = readers.get(found) ?? newNumberReader(numbers);
    readers.set(found, reader);
    const before = reader.heldBytes();
    const changes = numbersBack(item, reader);
    readerBytes += reader.heldBytes() - before;
    return changes;
  }

  function begin(found: FoundCall, { index }: JsonObject): RelayedCall {
    const isFree = typeof index === "number" && Number.isSafeInteger(index) && !indexes.has(index);
    const call = {
      index: isFree ? index : next,
      id: found.id === "" ? null : nameCall(found.id),
    };
    relayed.set(found, call);
    idChars += found.name.length + found.id.length;
    indexes.add(call.index);
    next = Math.max(next, call.index + 1);
    if (call.id === null) open.add(call);
    return call;
  }

  /** Sets the id of a call, which is sent with the first piece; that piece waits for it. */
  function close(call: RelayedCall, id: string, changes: Change[]): void {
    call.id = nameCall(id);
    idChars += id.length;
    open.delete(call);
    changes.push(["id", null]);
  }

  return {
    read,
    isOpen: () => open.size > 0,
    count: () => relayed.size,
    heldBytes: () => idChars + readerBytes + relayed.size * ITEM_BYTES,
    nameOpenCalls() {
      for (const call of open) call.id = nameCall("");
      open.clear();
    },
  };
}

function parsePiece(item: JsonObject): CallPiece {
  const called = isObject(item.function) ? item.function : item.custom;
  const { name, arguments: args, input } = isObject(called) ? called : {};
  const written = args ?? input;
  return {
    id: textOf(item.id),
    name: textOf(name),
    // Arguments that are a JSON object are complete in one piece.
    text: isObject(written) ? "{}" : textOf(written),
    isCustom: isCustomPiece(item),
    index: indexIn(item),
    signature: null,
  };
}
