import type { Config } from "../config/schema.ts";
import { parseEncryptionKey } from "../formats/encryption_key.ts";
import type { RecordFileOptions, RecordSettings } from "./record_file.ts";

/** Returns the settings of a file of records by the configuration. */
export function recordSettings({ record }: Pick<Config, "record">): RecordSettings {
  return { maxBytes: record.max_bytes, keepMs: record.keep, policy: record.policy };
}

/** Returns what the file of records is opened with by the configuration. */
export function recordFileOptions(config: Pick<Config, "record" | "state">): RecordFileOptions {
  const { record: { path }, state: { encryption_keys } } = config;
  const keys = encryption_keys.flatMap((text) => parseEncryptionKey(text) ?? []);
  return { path, keys, ...recordSettings(config) };
}
