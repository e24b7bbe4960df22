import type { EncodedRecord } from "./responses.ts";

/** An item of a conversation to be stored. */
export interface EncodedConversationItem {
  /** The `keyText` of its ID; null without an ID. */
  readonly itemId: string | null;
  readonly bytes: number;
  readonly body: EncodedRecord;
}

/** Encoded metadata with its size. */
export interface EncodedMetadata {
  readonly record: EncodedRecord;
  readonly bytes: number;
}

/** A conversation to be stored. */
export interface EncodedConversation {
  /** The `keyText` of its ID. */
  readonly id: string;
  /** JSON text of its creator. */
  readonly creator: string;
  readonly createdAt: number;
  readonly metadata: EncodedMetadata;
  readonly items: readonly EncodedConversationItem[];
  /** Size of the whole conversation. */
  readonly bytes: number;
}

/** An item read from the database. */
export interface ConversationItemRecord {
  readonly itemId: string | null;
  readonly body: EncodedRecord;
}

/** A conversation read from the database. */
export interface ConversationRecord {
  readonly creator: string;
  readonly createdAt: number;
  readonly metadata: EncodedRecord;
  readonly bytes: number;
  readonly items: readonly ConversationItemRecord[];
}

/** An item found by its ID, with its conversation. */
export interface FoundConversationItem extends ConversationItemRecord {
  readonly conversation: string;
  readonly creator: string;
}
