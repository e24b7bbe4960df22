import { createHmac } from "node:crypto";
import { type Result, success } from "../../core/failure/result.ts";
import { recordUnreadable } from "../store_failure.ts";
import { utf8Text } from "../../formats/utf8.ts";
import { decodePlain } from "./plain_codec.ts";
import type { RecordCodec, RecordKind } from "./record_codec.ts";
import { ENCRYPTED_CODE, type OnUnreadable } from "./record_version.ts";
import {
  additionalData,
  type EncryptionKeys,
  HEADER_BYTES,
  keyNumberOf,
  newNonce,
  NONCE_OFFSET,
  TAG_BYTES,
} from "./sealed_layout.ts";

const encoder = new TextEncoder();

interface NumberedKey {
  readonly number: number;
  readonly key: Promise<CryptoKey>;
}

/**
 * Returns a codec that encrypts with AES-256-GCM: version, key number, nonce, ciphertext, tag. Kind
 * and ID are authenticated, so that no record can replace another. Records that were written before
 * there were keys are read too.
 */
export function newEncryptingCodec(
  keys: EncryptionKeys,
  onUnreadable: OnUnreadable = () => {},
): RecordCodec {
  const [first, ...further] = keys;
  const writer = newNumberedKey(first);
  const readers = [writer, ...further.map(newNumberedKey)];
  return {
    isSealing: true,
    encode: (kind, id, content) => encrypt(writer, additionalData(kind, id), content),
    decode: (kind, id, record) => decode(readers, { kind, id, record, onUnreadable }, utf8Text),
    decodeBytes: (kind, id, record) =>
      decode(readers, { kind, id, record, onUnreadable }, (bytes) => bytes),
    digest: (text) => createHmac("sha256", first).update(text).digest("hex"),
  };
}

function newNumberedKey(bytes: Uint8Array<ArrayBuffer>): NumberedKey {
  const key = crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
  return { number: keyNumberOf(bytes), key };
}

async function encrypt(
  { number, key }: NumberedKey,
  data: Uint8Array<ArrayBuffer>,
  content: string | Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const nonce = newNonce();
  const settings = { name: "AES-GCM", iv: nonce, additionalData: data };
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  const sealed = await crypto.subtle.encrypt(settings, await key, bytes);
  const record = new Uint8Array(HEADER_BYTES + sealed.byteLength);
  record.set([ENCRYPTED_CODE, number]);
  record.set(nonce, NONCE_OFFSET);
  record.set(new Uint8Array(sealed), HEADER_BYTES);
  return record;
}

interface EncryptedRecord {
  readonly kind: RecordKind;
  readonly id: string;
  readonly record: Uint8Array;
  readonly onUnreadable: OnUnreadable;
}

async function decode<Content>(
  keys: readonly NumberedKey[],
  { kind, id, record, onUnreadable }: EncryptedRecord,
  read: (bytes: Uint8Array) => Content | null,
): Promise<Result<Content>> {
  if (record[0] !== ENCRYPTED_CODE) return decodePlain(kind, record, onUnreadable, read);
  const keyNumber = record[1] ?? null;
  const fitting = keys.filter(({ number }) => number === keyNumber);
  for (const { key } of fitting) {
    const bytes = await decrypt(await key, additionalData(kind, id), record);
    const content = bytes === null ? null : read(bytes);
    if (content !== null) return success(content);
  }
  const reason = fitting.length > 0 || keyNumber === null ? "altered" : "unknown_key";
  onUnreadable({ kind, reason, keyNumber });
  return recordUnreadable();
}

/** Returns the bytes of an encrypted record; null if it is not authentic. */
async function decrypt(
  key: CryptoKey,
  data: Uint8Array<ArrayBuffer>,
  record: Uint8Array,
): Promise<Uint8Array | null> {
  if (record.length < HEADER_BYTES + TAG_BYTES) return null;
  const nonce = record.slice(NONCE_OFFSET, HEADER_BYTES);
  try {
    const settings = { name: "AES-GCM", iv: nonce, additionalData: data };
    const bytes = await crypto.subtle.decrypt(settings, key, record.slice(HEADER_BYTES));
    return new Uint8Array(bytes);
  } catch {
    return null;
  }
}
