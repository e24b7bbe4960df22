import type { Config } from "../config/schema.ts";
import { problemOf } from "../store/sqlite/errors.ts";
import { openingProblem, type Problem } from "../store/sqlite/problems.ts";
import { openRecordFile, type RecordFile } from "./record_file.ts";
import { recordFileOptions } from "./record_settings.ts";

/** The open file of records, or why it cannot be read, as one sentence. */
export type OpenedRecords =
  | { readonly ok: true; readonly file: RecordFile }
  | { readonly ok: false; readonly problem: string; readonly reason: Problem };

/** Opens the file of `record.path` in this thread. It is not created. */
export function openRecords(config: Pick<Config, "record" | "state" | "privacy">): OpenedRecords {
  const options = recordFileOptions(config);
  const { path } = options;
  if (options.keys.length === 0) {
    const problem = "state.encryption_keys is empty, so records cannot be opened.";
    return { ok: false, problem, reason: "other" };
  }
  try {
    // Opening a database creates its file, which would surprise a reader.
    Deno.statSync(path);
    return { ok: true, file: openRecordFile(options) };
  } catch (error) {
    const problem = error instanceof Deno.errors.NotFound
      ? `There is no file ${path} (record.path).`
      : problemIn(path, error);
    return { ok: false, problem, reason: problemOf(error) };
  }
}

/** Returns why a file of records cannot be opened or read, as one sentence. */
export function problemIn(path: string, error: unknown): string {
  return openingProblem(problemOf(error), path, "record.path");
}
