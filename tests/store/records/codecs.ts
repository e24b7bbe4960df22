import fc from "fast-check";
import { newEncryptingCodec } from "../../../src/store/records/encrypting_codec.ts";
import type { EncryptionKeys } from "../../../src/store/records/sealed_layout.ts";
import { newPlainCodec } from "../../../src/store/records/plain_codec.ts";
import type { RecordCodec, RecordKind } from "../../../src/store/records/record_codec.ts";
import type { UnreadableRecord } from "../../../src/store/records/record_version.ts";
import { anyCharacter } from "../../support/any_character.ts";

/** A codec with the records that it could not read. */
export interface ObservedCodec {
  readonly codec: RecordCodec;
  readonly unreadable: UnreadableRecord[];
}

/** Returns a key whose bytes all have this value. */
export function keyOf(value: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(32).fill(value);
}

/** Returns an encrypting codec. */
export function encrypting(...keys: EncryptionKeys): ObservedCodec {
  const unreadable: UnreadableRecord[] = [];
  return { codec: newEncryptingCodec(keys, (record) => unreadable.push(record)), unreadable };
}

/** Returns a codec without encryption. */
export function plain(): ObservedCodec {
  const unreadable: UnreadableRecord[] = [];
  return { codec: newPlainCodec((record) => unreadable.push(record)), unreadable };
}

const KINDS = [
  "response",
  "item",
  "conversation",
  "conversation_item",
  "reasoning",
  "cached_response",
  "privacy_values",
] as const satisfies readonly RecordKind[];

/** Any type of record. */
export const anyKind = fc.constantFrom<RecordKind>(...KINDS);

/** Any text that is valid Unicode, as JSON texts are. */
export const anyText = fc.string({ unit: anyCharacter, maxLength: 200 });
