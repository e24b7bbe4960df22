import type { CallRecord, RecordHead } from "./record.ts";

/**
 * Maximum length of a name that clients choose, before it is masked: a credential at the length
 * that it has in a record is recognised by the rest.
 */
export const MAX_KNOWN_NAME_CHARS = 4_096;

/** Facts of a call in the gateway's thread; the rest of its head is in its content. */
export type KnownHead = Omit<RecordHead, "tools_offered" | "tools_called" | "finish">;

/** A finished call as it is passed to the thread of the file. */
export interface WrittenRecord {
  readonly id: string;
  /** Unix time in milliseconds at which the call began. */
  readonly at: number;
  readonly head: KnownHead;
  /** Absent if only the head is recorded. */
  readonly request?: NonNullable<CallRecord["request"]>;
  readonly response?: NonNullable<CallRecord["response"]>;
  /** The key of the client, which its events may have in pieces; absent without one or events. */
  readonly clientKey?: string;
}

/** Sealed head of a record. */
export interface StoredHead {
  readonly id: string;
  /** The same time as in the file, where everybody with the file can change it. */
  readonly at: number;
  readonly head: RecordHead;
}

/** Sealed body of a record. */
export type StoredBody = Pick<CallRecord, "request" | "response" | "previous">;
