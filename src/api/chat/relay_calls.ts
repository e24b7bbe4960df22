import { isObject, type JsonObject } from "../../core/json/json.ts";
import { charsOf, type StreamRecord } from "../../core/stream/reply.ts";
import { splice } from "../../formats/edit.ts";
import {
  type CallOptions,
  type ChoiceCalls,
  newChoiceCalls,
  type RelayedCall,
} from "./choice_calls.ts";
import { type CallChange, callEdits } from "./relay_edits.ts";

/**
 * Number of records held for the id of a call; less than the limit on records before delivery
 * begins.
 */
const MAX_HELD_RECORDS = 512;

/** Total length of the held records. */
const MAX_HELD_CHARS = 1024 * 1024;

/** Size in memory of a choice with calls, besides these. */
const CHOICE_BYTES = 2_560;

/** A relayed chunk for the client. */
export interface RelayedChunk {
  readonly record: StreamRecord;
  /** True if the chunk has content for the client. */
  readonly carries: boolean;
}

/** Relay of the tool calls of a stream. */
export interface CallRelay {
  /** Returns the edits for the tool calls of a chunk. The edited chunk must be passed to `pass`. */
  read(chunk: JsonObject): readonly CallChange[];
  /**
   * Returns the chunks to send now. A chunk that begins a tool call without an id is held until the
   * id arrives, with all later chunks. `isLast` ends the hold.
   */
  pass(chunk: RelayedChunk, isLast: boolean): readonly RelayedChunk[];
  /** Returns the held chunks, with ids of the gateway for their calls. */
  end(): readonly RelayedChunk[];
  /** True while chunks are held. */
  isHolding(): boolean;
  /** Returns the number of calls so far, of all choices. */
  count(): number;
  /** Returns the bytes of the calls and of the held chunks. */
  heldBytes(): number;
}

/** Position in a chunk of a tool call that begins there without an id. */
interface OpenPiece {
  readonly choice: number;
  readonly item: number;
  readonly call: RelayedCall;
}

interface HeldChunk extends RelayedChunk {
  readonly open: readonly OpenPiece[];
}

/** Returns the relay of the tool calls of one stream, in all its choices. */
export function newCallRelay(options: CallOptions): CallRelay {
  const choices = new Map<number, ChoiceCalls>();
  /**
   * Choices with a call without an id. A scan of all choices for each chunk would take quadratic
   * time.
   */
  const openChoices = new Set<ChoiceCalls>();
  let open: readonly OpenPiece[] = [];
  let held: HeldChunk[] = [];
  let length = 0;
  /** Bytes of the calls of all choices. */
  let callBytes = 0;
  /** Number of calls of all choices. */
  let count = 0;
  /** Number of arrays of calls so far. */
  let lists = 0;

  function findOrAddCalls({ index }: JsonObject): ChoiceCalls {
    const number = typeof index === "number" ? index : 0;
    const calls = choices.get(number) ?? newChoiceCalls(options);
    choices.set(number, calls);
    return calls;
  }

  function read({ choices: list }: JsonObject): readonly CallChange[] {
    const found: CallChange[] = [];
    const opened: OpenPiece[] = [];
    for (const [at, choice] of (Array.isArray(list) ? list : []).entries()) {
      const delta = isObject(choice) ? choice.delta : undefined;
      const items = isObject(delta) ? delta.tool_calls : undefined;
      if (!isObject(choice) || !Array.isArray(items)) continue;
      lists += 1;
      for (const [place, item] of items.entries()) {
        if (!isObject(item)) continue;
        const calls = findOrAddCalls(choice);
        const before = calls.heldBytes();
        const countBefore = calls.count();
        const { changes, open: call } = calls.read(item, lists);
        callBytes += calls.heldBytes() - before;
        count += calls.count() - countBefore;
        if (calls.isOpen()) openChoices.add(calls);
        else openChoices.delete(calls);
        if (changes.length > 0) found.push({ choice: at, item: place, changes });
        if (call !== null) opened.push({ choice: at, item: place, call });
      }
    }
    open = opened;
    return found;
  }

  function pass(chunk: RelayedChunk, isLast: boolean): readonly RelayedChunk[] {
    if (held.length === 0 && open.length === 0) return [chunk];
    held.push({ ...chunk, open });
    open = [];
    length += charsOf([chunk.record]);
    const isFull = held.length >= MAX_HELD_RECORDS || length >= MAX_HELD_CHARS;
    return isLast || isFull || openChoices.size === 0 ? end() : [];
  }

  function end(): readonly RelayedChunk[] {
    for (const calls of openChoices) calls.nameOpenCalls();
    openChoices.clear();
    const released = held.map(withLaterIds);
    held = [];
    length = 0;
    return released;
  }

  return {
    read,
    pass,
    end,
    isHolding: () => held.length > 0,
    count: () => count,
    heldBytes: () => callBytes + length + choices.size * CHOICE_BYTES,
  };
}

/** Returns a held chunk with the ids that arrived later. */
function withLaterIds({ record, carries, open }: HeldChunk): RelayedChunk {
  if (open.length === 0) return { record, carries };
  const ids = open.map(({ choice, item, call }): CallChange => ({
    choice,
    item,
    changes: [["id", JSON.stringify(call.id)]],
  }));
  const data = splice(record.data, callEdits(record.data, "delta", ids));
  return { record: { event: null, data, raw: null }, carries };
}
