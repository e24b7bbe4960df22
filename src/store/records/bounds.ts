import { Buffer } from "node:buffer";
import {
  bindingBounds,
  privacyValueBounds,
  reasoningBounds,
  relayedOwnerBounds,
  type Retention,
} from "../retention.ts";
import type { RecordType } from "./record_store.ts";

/** Bounds of the records of one type. */
export interface Bounds {
  readonly entries: number;
  /** Maximum bytes of heads, bodies and parts. */
  readonly bytes: number;
  /** Maximum bytes of IDs and heads; only those of all bytes count if absent. */
  readonly headBytes?: number;
  /** Maximum number and bytes of the records of one creator; no bounds if absent. */
  readonly shareEntries?: number;
  readonly shareBytes?: number;
  /**
   * Record that makes room for another one, and is never that one itself. `oldest`: the oldest one.
   * `largest_share`: the oldest one of the creator that has most, so that no client can remove the
   * records of another. Most are records if there are too many of them, else bytes. Of several such
   * creators it is that of the record that needs the room if it is one of them, else any. A creator
   * without a record, or with that record only, is none of them.
   */
  readonly room: "oldest" | "largest_share";
}

/** Returns the maximum bytes of the ID and the head of one record. */
export function maxHeadBytes({ bytes, headBytes = bytes }: Bounds): number {
  return headBytes;
}

/** Bounds of each type. */
export type RecordBounds = Readonly<Record<RecordType, Bounds>>;

/** Returns the bounds of the records of a store. */
export function recordBounds(retention: Retention): RecordBounds {
  const { maxObjects: entries, maxBytes: bytes } = retention;
  // No client may make the gateway forget the object of another one, or the owner of an object.
  const objects = { entries, bytes, room: "largest_share" } as const;
  const owners = { ...bindingBounds(retention), room: "largest_share" } as const;
  const reasoning = reasoningBounds(retention);
  return {
    response: { ...objects, headBytes: owners.bytes },
    conversation: objects,
    reasoning: {
      entries: reasoning.entries,
      bytes: reasoning.bytes,
      shareEntries: reasoning.creatorEntries,
      shareBytes: reasoning.creatorBytes,
      room: "oldest",
    },
    completion_owner: owners,
    conversation_owner: owners,
    relayed_owner: { ...relayedOwnerBounds(retention), room: owners.room },
    cached_response: { ...objects, room: "oldest" },
    privacy_values: { ...privacyValueBounds(retention), room: owners.room },
  };
}

/** Returns the bytes that count for a record without body and parts. */
export function headBytes(id: string, head: string): number {
  return Buffer.byteLength(id) + Buffer.byteLength(head);
}
