import type { RecordKind } from "./record_codec.ts";

/** First byte of a record whose text is not encrypted. */
export const PLAIN_CODE = 0x00;

/** First byte of an encrypted record; the number of its key follows. */
export const ENCRYPTED_CODE = 0x01;

/** Why a record cannot be read. Nothing of its content. */
export interface UnreadableRecord {
  readonly kind: RecordKind;
  /**
   * `version`: written by another version of the gateway; `unknown_key`: none of the keys has its
   * number; `altered`: changed, incomplete, or moved from another kind or ID.
   */
  readonly reason: "version" | "unknown_key" | "altered";
  /** Number of the encryption key of the record; null for a record that is not encrypted. */
  readonly keyNumber: number | null;
}

/** Receives each record that cannot be read. */
export type OnUnreadable = (record: UnreadableRecord) => void;

/** Returns the line of the log for a record that cannot be read. */
export function unreadableMessage({ kind, reason, keyNumber }: UnreadableRecord): string {
  const what = `A stored ${kind} cannot be read`;
  if (reason === "version") return `${what}: it was written by another version of the gateway.`;
  if (reason === "unknown_key") {
    return `${what}: it is encrypted with key ${keyNumber}, which is not in state.encryption_keys.`;
  }
  const key = keyNumber === null ? "" : ` (key ${keyNumber})`;
  return `${what}: it is incomplete or was changed${key}.`;
}
