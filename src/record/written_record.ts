import type { CallRecord, RecordHead } from "./record.ts";

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
