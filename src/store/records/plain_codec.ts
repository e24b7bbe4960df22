import { createHash } from "node:crypto";
import { concatBytes } from "../../core/concat_bytes.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { utf8Text } from "../../formats/utf8.ts";
import { recordUnreadable } from "../store_failure.ts";
import type { RecordCodec, RecordKind } from "./record_codec.ts";
import { ENCRYPTED_CODE, type OnUnreadable, PLAIN_CODE } from "./record_version.ts";

const encoder = new TextEncoder();

/** Returns a codec that encrypts nothing: the version byte, then the text in UTF-8. */
export function newPlainCodec(onUnreadable: OnUnreadable = () => {}): RecordCodec {
  return {
    isSealing: false,
    encode: (_kind, _id, content) => Promise.resolve(encodePlain(content)),
    decode: (kind, _id, record) =>
      Promise.resolve(decodePlain(kind, record, onUnreadable, utf8Text)),
    decodeBytes: (kind, _id, record) =>
      Promise.resolve(decodePlain(kind, record, onUnreadable, (bytes) => bytes)),
    digest: (text) => createHash("sha256").update(text).digest("hex"),
  };
}

function encodePlain(content: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof content === "string"
    ? encoder.encode(String.fromCharCode(PLAIN_CODE) + content)
    : concatBytes([Uint8Array.of(PLAIN_CODE), content]);
}

/**
 * Returns what `read` makes of the content of a record that is not encrypted; `state_unreadable` if
 * that is null, and for all other records.
 */
export function decodePlain<Content>(
  kind: RecordKind,
  record: Uint8Array,
  onUnreadable: OnUnreadable,
  read: (bytes: Uint8Array) => Content | null,
): Result<Content> {
  const isEncrypted = record[0] === ENCRYPTED_CODE;
  if (record[0] === PLAIN_CODE) {
    const content = read(record.subarray(1));
    if (content !== null) return success(content);
  }
  const keyNumber = isEncrypted ? record[1] ?? null : null;
  const reason = record.length === 0 || record[0] === PLAIN_CODE
    ? "altered"
    : isEncrypted
    ? "unknown_key"
    : "version";
  onUnreadable({ kind, reason, keyNumber });
  return recordUnreadable();
}
