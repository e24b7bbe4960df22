/** Content of a state store, for `switchyard state info`. */
export interface StateInfo {
  /** Name and version of the server or library that stores the state, such as `Valkey 8.0.1`. */
  readonly version: string;
  /** Size of each type of record; types without records are absent. */
  readonly types: readonly StoredType[];
  /** Age of the oldest and of the newest record in milliseconds. */
  readonly oldestMs: number | null;
  readonly newestMs: number | null;
}

/** Size of all records of one type. */
export interface StoredType {
  readonly type: StoredTypeName;
  readonly entries: number;
  /** Bytes of the content; 0 for types whose bytes the store does not count. */
  readonly bytes: number;
}

/** Types of records in a state store. */
export type StoredTypeName =
  | "responses"
  | "conversations"
  | "owners"
  | "reasoning"
  | "cached_responses"
  | "privacy_values"
  | "quotas";
