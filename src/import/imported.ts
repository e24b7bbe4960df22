import type { ReportLine } from "./report.ts";

/** Result of an import. */
export interface Imported {
  /** Text of the configuration file; null if nothing of the source can be served. */
  readonly file: string | null;
  readonly lines: readonly ReportLine[];
  /** Names of the environment variables of the file. */
  readonly variables: readonly string[];
  /** A value for each variable with which the file can be checked. */
  readonly standIns: Readonly<Record<string, string>>;
}

/** The result of an import, or the problem with the source. */
export type ImportResult =
  | { readonly ok: true; readonly imported: Imported }
  | { readonly ok: false; readonly problem: string };

/** Reads the text of a source. Only names of models are read from `environment`. */
export type Importer = (
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
) => ImportResult;
