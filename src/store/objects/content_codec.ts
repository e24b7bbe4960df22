import { Buffer } from "node:buffer";
import { concatBytes } from "../../core/concat_bytes.ts";
import { type JsonValue, parseExact } from "../../core/json/json.ts";
import { allOf, type Result, success } from "../../core/failure/result.ts";
import type { World } from "../../core/world.ts";
import { utf8Text } from "../../formats/utf8.ts";
import { type DecodeEach, newDecodeEach } from "../records/decode_each.ts";
import type { RecordCodec, RecordKind } from "../records/record_codec.ts";
import { recordUnreadable } from "../store_failure.ts";

/** Key of a value, and bytes. */
export interface SizedKey {
  readonly key: string;
  readonly bytes: number;
}

/** A JSON value and bytes. */
export interface ContentBytes {
  readonly value: JsonValue;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Ends the value before the bytes: no JSON text has one. */
const LF = 10;

const encoder = new TextEncoder();

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
  /** Returns a body of a value with bytes, which are neither copied nor parsed when it is read. */
  encodeBytes(kind: RecordKind, id: string, content: ContentBytes): Promise<Body>;
  /** Returns the content of such a body; `state_unreadable` if there is none. */
  decodeBytes(kind: RecordKind, id: string, body: Body): Promise<Result<ContentBytes>>;
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
    encodeBytes: (_kind, _id, { value, bytes }) => Promise.resolve([value, bytes.toBase64()]),
    decodeBytes(_kind, _id, body) {
      const [value = null, base64] = Array.isArray(body) ? body : [];
      return Promise.resolve(
        typeof base64 === "string"
          ? success({ value, bytes: Uint8Array.fromBase64(base64) })
          : recordUnreadable(),
      );
    },
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
    encodeBytes(kind, id, { value, bytes }) {
      const head = encoder.encode(`${JSON.stringify(value)}\n`);
      return codec.encode(kind, id, concatBytes([head, bytes]));
    },
    async decodeBytes(kind, id, body) {
      const content = await codec.decodeBytes(kind, id, body);
      if (!content.ok) return content;
      const end = content.value.indexOf(LF);
      const value = parseExact(utf8Text(content.value.subarray(0, Math.max(0, end))) ?? "");
      if (value === undefined) return recordUnreadable();
      return success({ value, bytes: withoutCopy(content.value.subarray(end + 1)) });
    },
    decodeEach: newDecodeEach(world),
    sizeOf: (body) => body.length,
  };
}

function withoutCopy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  return buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(bytes);
}
