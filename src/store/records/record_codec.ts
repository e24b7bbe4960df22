import type { Result } from "../../core/failure/result.ts";

/** Types of records with content of clients. */
export type RecordKind =
  | "response"
  | "item"
  | "conversation"
  | "conversation_item"
  | "reasoning"
  | "cached_response"
  | "privacy_values";

/**
 * Encodes the content of records for a store outside the memory of the process. The first byte of a
 * record is its version.
 */
export interface RecordCodec {
  /** True if records are encrypted. */
  readonly isSealing: boolean;
  /** Returns the record with this text or bytes. `id` is the key of the record in its store. */
  encode(
    kind: RecordKind,
    id: string,
    content: string | Uint8Array<ArrayBuffer>,
  ): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Returns the text of a record; `state_unreadable` if its version or encryption key is unknown,
   * or if it was written under another kind or ID.
   */
  decode(kind: RecordKind, id: string, record: Uint8Array): Promise<Result<string>>;
  /** Returns the bytes of a record like `decode`, which may be a part of it. */
  decodeBytes(kind: RecordKind, id: string, record: Uint8Array): Promise<Result<Uint8Array>>;
  /**
   * Returns a digest of a text, by which equal items are stored once. With encryption keys it is
   * keyed, so that it reveals nothing of the text.
   */
  digest(text: string): string;
}
