import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { StreamRecord } from "../../core/reply.ts";
import { splice } from "../../formats/edit.ts";
import type { IdSource } from "../../wires/wire.ts";
import { type ChoiceCalls, choiceCalls, type RelayedCall } from "./choice_calls.ts";
import { type CallChange, callEdits } from "./relay_edits.ts";

/** Records that wait for the id of a call: fewer than those with which a stream may begin. */
const MAX_HELD_RECORDS = 512;

/** Length of these records together, in characters. */
const MAX_HELD_LENGTH = 1024 * 1024;

/** A chunk on its way to the client. */
export interface RelayedChunk {
  readonly record: StreamRecord;
  /** The chunk brings the client something. */
  readonly carries: boolean;
}

/** The tool calls of a relayed stream. */
export interface CallRelay {
  /** Returns what must change in the calls of a chunk, which goes to `pass` then. */
  read(chunk: JsonObject): readonly CallChange[];
  /**
   * Returns the chunks that go out now. One that begins a call without an id waits for it, and all
   * chunks behind it; `isLast`: no id is waited for any more.
   */
  pass(chunk: RelayedChunk, isLast: boolean): readonly RelayedChunk[];
  /** Returns the chunks that still wait, their calls named by the gateway. */
  end(): readonly RelayedChunk[];
  /** True while chunks wait. */
  isHolding(): boolean;
}

/** A call that begins in a chunk without its id, by its place there. */
interface OpenPiece {
  readonly choice: number;
  readonly item: number;
  readonly call: RelayedCall;
}

interface HeldChunk extends RelayedChunk {
  readonly open: readonly OpenPiece[];
}

/** Returns the relay of the calls of one stream, in all its choices. */
export function callRelay(mint: Pick<IdSource, "uuid">): CallRelay {
  const choices = new Map<number, ChoiceCalls>();
  /** Those with a call that waits for its id: to look through all of them for each chunk takes quadratic time. */
  const openChoices = new Set<ChoiceCalls>();
  let open: readonly OpenPiece[] = [];
  let held: HeldChunk[] = [];
  let length = 0;

  function callsOf({ index }: JsonObject): ChoiceCalls {
    const number = typeof index === "number" ? index : 0;
    const calls = choices.get(number) ?? choiceCalls(mint);
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
      for (const [place, item] of items.entries()) {
        if (!isObject(item)) continue;
        const calls = callsOf(choice);
        const { changes, open: call } = calls.read(item, items);
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
    length += chunk.record.data.length;
    const isFull = held.length >= MAX_HELD_RECORDS || length >= MAX_HELD_LENGTH;
    return isLast || isFull || openChoices.size === 0 ? end() : [];
  }

  function end(): readonly RelayedChunk[] {
    for (const calls of openChoices) calls.nameOpenCalls();
    openChoices.clear();
    const released = held.map(named);
    held = [];
    length = 0;
    return released;
  }

  return { read, pass, end, isHolding: () => held.length > 0 };
}

/** The chunk with the ids that have come since. */
function named({ record, carries, open }: HeldChunk): RelayedChunk {
  if (open.length === 0) return { record, carries };
  const ids = open.map(({ choice, item, call }): CallChange => ({
    choice,
    item,
    changes: [["id", JSON.stringify(call.id)]],
  }));
  const data = splice(record.data, callEdits(record.data, "delta", ids));
  return { record: { event: null, data, raw: null }, carries };
}
