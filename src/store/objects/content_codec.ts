import { Buffer } from "node:buffer";
import { type JsonValue, parseExact } from "../../core/json/json.ts";
import { allOf, type Result, success } from "../../core/failure/result.ts";
import type { World } from "../../core/world.ts";
import { type DecodeEach, newDecodeEach } from "../records/decode_each.ts";
import type { RecordCodec, RecordKind } from "../records/record_codec.ts";
import { recordUnreadable } from "../store_failure.ts";

/** Key of a value, and bytes. */
export interface SizedKey {
  readonly key: string;
  readonly bytes: number;
}

/** Makes the bodies of records and parts of JSON values. */
export interface ContentCodec<Body> {
  /** True if bodies are encrypted. */
  readonly isSealing: boolean;
  /** Maximum number of small parts in a row, before they become one; see `newItems`. */
  readonly maxSmallPacks: number;
  /** Bytes that count for each part of a record: its key and its place there. */
  readonly referenceBytes: number;
  /**
   * Maximum bytes of decoded items that are remembered, so that a history is not decoded with each
   * turn.
   */
  readonly maxRememberedBytes: number;
  /**
   * Returns a key that identifies the value, of letters and digits, and the bytes of its text; 0 if
   * it is stored without one.
   */
  identify(value: JsonValue): SizedKey;
  /** Returns a body. `id` is authenticated with it. */
  encode(kind: RecordKind, id: string, value: JsonValue): Promise<Body>;
  /** Returns the value of a body; `state_unreadable` if there is none. */
  decode(kind: RecordKind, id: string, body: Body): Promise<Result<JsonValue>>;
  readonly decodeEach: DecodeEach;
  /** Returns the bytes to be decoded. */
  sizeOf(body: Body): number;
}

/**
 * Returns a codec for the memory of the process: bodies are the values, and equal values are
 * different ones.
 */
export function newHeldContent(): ContentCodec<JsonValue> {
  let made = 0;
  return {
    isSealing: false,
    // Parts with items of earlier ones would count again, although they have the same objects.
    maxSmallPacks: Infinity,
    referenceBytes: 64,
    maxRememberedBytes: 0,
    identify: () => ({ key: `${++made}`, bytes: 0 }),
    encode: (_kind, _id, value) => Promise.resolve(value),
    decode: (_kind, _id, body) => Promise.resolve(success(body)),
    decodeEach: async (records, _bytesOf, decode) => allOf(await Promise.all(records.map(decode))),
    sizeOf: () => 0,
  };
}

/**
 * Returns a codec for a store outside the process, whose bodies are records of JSON texts.
 */
export function newTextContent(
  codec: RecordCodec,
  world: Pick<World, "now" | "after">,
): ContentCodec<Uint8Array> {
  return {
    isSealing: codec.isSealing,
    maxSmallPacks: 24,
    referenceBytes: 192,
    maxRememberedBytes: 8 * 1024 * 1024,
    identify(value) {
      const text = JSON.stringify(value);
      return { key: codec.digest(text), bytes: Buffer.byteLength(text) };
    },
    encode: (kind, id, value) => codec.encode(kind, id, JSON.stringify(value)),
    async decode(kind, id, body) {
      const text = await codec.decode(kind, id, body);
      if (!text.ok) return text;
      const value = parseExact(text.value);
      return value === undefined ? recordUnreadable() : success(value);
    },
    decodeEach: newDecodeEach(world),
    sizeOf: (body) => body.length,
  };
}
