import type { Stored } from "../object_store.ts";

/**
 * Types of records. Records, parts, names, versions and bounds of two types have nothing in common.
 */
export const RECORD_TYPES = [
  "response",
  "conversation",
  "reasoning",
  "completion_owner",
  "conversation_owner",
  "relayed_owner",
  "cached_response",
  "privacy_values",
] as const;

/** Type of a record. */
export type RecordType = (typeof RECORD_TYPES)[number];

/**
 * Identifies a record. `id` is a text of `keyText`: well-formed Unicode without NUL, of any length.
 */
export interface RecordId {
  readonly type: RecordType;
  readonly id: string;
}

/**
 * Piece of the content of a record, such as some items of a response. Parts are stored once for all
 * records of their type: records with equal keys share a part, whose content is equal too.
 */
export interface Part<Body = Uint8Array> {
  /** Digest of the content: letters, digits, `-` and `_`. */
  readonly key: string;
  /** Texts of `keyText` by which `RecordStore.named` finds the part, without repetitions. */
  readonly names: readonly string[];
  /** Bytes that count for the part, once for all records. */
  readonly bytes: number;
  /**
   * In a change, null for a part that is expected to be stored. In a record, null for a part that
   * was not requested, or that a server has lost.
   */
  readonly body: Body | null;
}

/** A stored record. */
export interface StoredRecord<Body = Uint8Array> {
  /**
   * Opaque; differs after each commit that changes the record, also if it was removed in between.
   */
  readonly version: string;
  /** Clear text without content of clients, such as owner and creator. */
  readonly head: string;
  /** Null for a record without a body, and if it was not requested. */
  readonly body: Body | null;
  /** Parts in order; empty if they were not requested. */
  readonly parts: readonly Part<Body>[];
}

/** Parts that a lookup reads besides the head. */
export interface ReadOptions {
  /**
   * `head`: neither body nor parts. `body`: no parts. `all`: body and parts. A list of keys: the
   * body, all parts, and the bodies of the parts with these keys only.
   */
  readonly content: "head" | "body" | "all" | readonly string[];
  /**
   * Keys of parts of which the caller has the content: neither names nor body of them are read. One
   * that a server has lost has 0 bytes.
   */
  readonly known?: readonly string[];
  /**
   * If set, the records that are found last for this time from now on, and are the youngest of
   * their type.
   */
  readonly renewMs?: number;
}

/** A body with the bytes that count for it. */
export interface SizedBody<Body = Uint8Array> {
  readonly body: Body;
  readonly bytes: number;
}

/** State of a record after a change. */
export interface NextRecord<Body = Uint8Array> {
  readonly head: string;
  /** Null for none; absent: the earlier body stays. */
  readonly body?: SizedBody<Body> | null;
  /** Absent: the earlier parts stay. */
  readonly parts?: readonly Part<Body>[];
  /**
   * Creator for whom the record counts, a text of `keyText`. It is set by the change that adds the
   * record; a record that is replaced stays with its creator.
   */
  readonly share: string;
  /**
   * Lifetime in milliseconds, from now on; the record is then the youngest of its type. Null: a
   * record that is replaced keeps its end and its age. All records of a type have the same
   * lifetime, except cached responses.
   */
  readonly lifeMs: number | null;
}

/** One change of a commit, which changes each record at most once. */
export interface Change<Body = Uint8Array> {
  readonly id: RecordId;
  /** Version that the record must have; null: it must not exist. */
  readonly expected: string | null | "any";
  /** Null removes the record. */
  readonly next: NextRecord<Body> | null;
}

/**
 * Result of a commit. `changed`: a record has not the expected version. `missing`: parts to be sent
 * along.
 */
export type Committed =
  | { readonly kind: "done" }
  | { readonly kind: "changed" }
  | { readonly kind: "missing"; readonly keys: readonly string[] };

/** A part of a record, found by one of its names. */
export interface NamedPart<Body = Uint8Array> {
  readonly name: string;
  readonly key: string;
  readonly body: Body;
  /** ID and head of the record that has the part. */
  readonly id: string;
  readonly head: string;
  /**
   * Age of the record; a greater number is a younger record. Comparable within the results of one
   * lookup.
   */
  readonly order: number;
  /** Index of the part in the record; the last one if it occurs several times. */
  readonly position: number;
}

/** Size of the records of one type. */
export interface RecordStats {
  readonly entries: number;
  /** Number of the records that have a body. */
  readonly bodies: number;
  /** Bytes of the IDs and heads in UTF-8. */
  readonly headBytes: number;
  /** Bytes of IDs, heads, bodies and parts. */
  readonly bytes: number;
}

/**
 * Maximum number of parts with one name that a lookup examines: clients choose the IDs of their
 * items.
 */
export const MAX_NAMED_PARTS = 100;

/** Maximum number of records with one part that a lookup of few names examines, and of many. */
const MAX_HOLDERS = 1_000, MIN_HOLDERS = 100;

/**
 * Returns how many records with one part a lookup by names examines, those that have it last, if it
 * returns `most` uses of each name: each turn of a dialogue may be a record with all of its parts.
 */
export function examinedHolders(most: number): number {
  return Math.min(MAX_HOLDERS, Math.max(MIN_HOLDERS, most));
}

/**
 * Maximum number of parts that a store outside the process writes in one step, and of records that
 * a lookup reads in one.
 */
export const MAX_STEP_PARTS = 256;

/**
 * Storage of records. It knows neither what they contain nor who may change them: rules decide on
 * what they have read, and commit on condition that it has not changed.
 *
 * Every operation fails with `state_unavailable` if the store does not answer. Operations are
 * atomic, for all replicas: a lookup finds a state between two commits. What has expired is never
 * found, holds nothing and is no obstacle to a change that expects no record.
 *
 * A store outside the process does bounded work in one step (a script, a transaction): it sends,
 * writes, reads and removes at most `MAX_STEP_PARTS` parts or so at a time. A commit with more
 * parts writes them first and its records last: the last step is the commit. Parts that no record
 * has because the process ended in between are not found, and are removed after the lifetime of the
 * commit at the latest.
 */
export interface RecordStore<Body = Uint8Array> {
  /** Returns the record of each ID, in the order of the IDs; null for one that does not exist. */
  get(
    ids: readonly RecordId[],
    options: ReadOptions,
  ): Stored<readonly (StoredRecord<Body> | null)[]>;
  /**
   * Returns the uses of the parts with each name: one for each record that has such a part. Of each
   * name it examines at most `MAX_NAMED_PARTS` parts, those that a commit has given to a record
   * last, and returns at most `most` uses, in the order of the parts and for each part those by the
   * youngest records. A part that a server has lost is not returned. Uses of one part have the same
   * body object.
   */
  named(
    type: RecordType,
    names: readonly string[],
    most: number,
  ): Stored<readonly NamedPart<Body>[]>;
  /**
   * Makes all changes or none. `changed` comes before `missing`; both change nothing. Afterwards
   * the types that were changed are within their bounds: expired records are removed first; then,
   * while a creator is above its share, its oldest record; then, while the type is above its
   * bounds, the record that `room` names. Room is made for one change after the other, in their
   * order; the record that needs the room is not removed for itself, because a change is never
   * larger than the bounds.
   *
   * For a creator count its records with their heads, bodies and the parts that they have brought.
   * A part counts for the creator of the record that was the first to have it, until no record has
   * it.
   */
  commit(changes: readonly Change<Body>[]): Stored<Committed>;
  /**
   * Returns the sizes synchronously, as known from the last operation of this process. Expired
   * records may count until they are removed.
   */
  stats(): Readonly<Record<RecordType, RecordStats>>;
}

/** Returns the sizes of a store without records. */
export function noRecordStats(): Readonly<Record<RecordType, RecordStats>> {
  return recordStats(() => ({ entries: 0, bodies: 0, headBytes: 0, bytes: 0 }));
}

/** Returns the sizes that `of` returns for each type. */
export function recordStats(
  of: (type: RecordType) => RecordStats,
): Readonly<Record<RecordType, RecordStats>> {
  return {
    response: of("response"),
    conversation: of("conversation"),
    reasoning: of("reasoning"),
    completion_owner: of("completion_owner"),
    conversation_owner: of("conversation_owner"),
    relayed_owner: of("relayed_owner"),
    cached_response: of("cached_response"),
    privacy_values: of("privacy_values"),
  };
}
