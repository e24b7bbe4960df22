import type { Config } from "../config/schema.ts";
import { parseEncryptionKey } from "../formats/encryption_key.ts";
import { problemOf } from "../store/sqlite/errors.ts";
import { openingProblem, type Problem } from "../store/sqlite/problems.ts";
import type { RecordFilter } from "./filter.ts";
import { type Hit, openRecordFile, type RecordFile } from "./record_file.ts";
import { recordSettings } from "./record_settings.ts";
import { searchRecords } from "./search.ts";

/** The open file of records, or why it cannot be read, as one sentence. */
export type OpenedRecords =
  | { readonly kind: "open"; readonly file: RecordFile }
  | { readonly kind: "absent" | "refused"; readonly problem: string; readonly reason: Problem };

/** Opens the file of `record.path` in this thread. It is not created. */
export function openRecords(config: Pick<Config, "record" | "state">): OpenedRecords {
  const { record: { path }, state } = config;
  const keys = state.encryption_keys.flatMap((text) => parseEncryptionKey(text) ?? []);
  if (keys.length === 0) {
    const problem = "state.encryption_keys is empty, so records cannot be opened.";
    return { kind: "refused", problem, reason: "other" };
  }
  try {
    // Opening a database creates its file, which would surprise a reader.
    Deno.statSync(path);
    return { kind: "open", file: openRecordFile({ path, keys, ...recordSettings(config) }) };
  } catch (error) {
    const reason = problemOf(error);
    return error instanceof Deno.errors.NotFound
      ? { kind: "absent", problem: `There is no file ${path} (record.path).`, reason }
      : { kind: "refused", problem: openingProblem(reason, path, "record.path"), reason };
  }
}

/** Yields the records of an open file with their content, the newest first. */
export function readRecords(
  file: RecordFile,
  filter: RecordFilter = {},
): AsyncIterable<Hit | null> {
  return searchRecords(file.scan, { filter, limit: Infinity, before: null, withContent: true });
}
