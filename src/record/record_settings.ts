import type { Config } from "../config/schema.ts";
import type { RecordSettings } from "./record_file.ts";

/** Returns the settings of a file of records by the configuration. */
export function recordSettings({ record }: Pick<Config, "record">): RecordSettings {
  return { maxBytes: record.max_bytes, keepMs: record.keep, policy: record.policy };
}
