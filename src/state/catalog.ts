/** Model list of a provider. */
export interface Catalog {
  readonly models: readonly string[];
  /** Time of the fetch, in seconds since 1970. */
  readonly created: number;
}
