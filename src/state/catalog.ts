/** What a provider is known to have. */
export interface Catalog {
  readonly models: readonly string[];
  /** Seconds since 1970 when it was found. */
  readonly created: number;
}
