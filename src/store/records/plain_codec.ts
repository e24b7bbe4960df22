import { createHash } from "node:crypto";
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
    encode: (_kind, _id, text) => Promise.resolve(encodePlain(text)),
    decode: (kind, _id, record) => Promise.resolve(decodePlain(kind, record, onUnreadable)),
    digest: (text) => createHash("sha256").update(text).digest("hex"),
  };
}

function encodePlain(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(String.fromCharCode(PLAIN_CODE) + text);
}

/** Returns the text of a record that is not encrypted; `state_unreadable` for all other records. */
export function decodePlain(
  kind: RecordKind,
  record: Uint8Array,
  onUnreadable: OnUnreadable,
): Result<string> {
  const isEncrypted = record[0] === ENCRYPTED_CODE;
  if (record[0] === PLAIN_CODE) {
    const text = utf8Text(record.subarray(1));
    if (text !== null) return success(text);
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
