import type { RecordFileOptions } from "../../src/record/record_file.ts";
import type { RecordHead } from "../../src/record/record.ts";
import type { WrittenRecord } from "../../src/record/written_record.ts";
import { newRecord } from "../support/records.ts";

/** An encryption key, and as it is written in a configuration. */
export const KEY = new Uint8Array(32).fill(7);
export const WRITTEN_KEY = KEY.toBase64();

/** Runs a test with a folder that is removed afterwards. */
export async function withFolder(test: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-record-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Options of a file with the usual key and bounds that no test reaches. */
export function fileOptions(
  folder: string,
  options: Partial<RecordFileOptions> = {},
): RecordFileOptions {
  return {
    path: `${folder}/record.db`,
    keys: [KEY],
    maxBytes: 1024 ** 3,
    keepMs: 3_600_000,
    policy: "none",
    ...options,
  };
}

/** Returns a record as it is passed to the thread of the file. */
export function written(
  id: string,
  at: number,
  parts: { head?: Partial<RecordHead>; body?: string | null; answer?: string } = {},
): WrittenRecord {
  const { head } = newRecord(parts.head === undefined ? {} : { head: parts.head });
  const known = { id, at, head };
  if (parts.body === null) return known;
  return {
    ...known,
    request: { headers: {}, query: "", body: parts.body ?? "{}" },
    response: { headers: {}, body: parts.answer ?? "{}", events: null },
  };
}
