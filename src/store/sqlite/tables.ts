/** The tables of a database file. */
export interface Tables {
  /** Marks a file as one with these tables. */
  readonly application: number;
  readonly version: number;
  /** Statements that create all tables. */
  readonly create: string;
  /** Returns the statements that bring the tables of an earlier version to this one. */
  upgrade(version: number): string;
}
