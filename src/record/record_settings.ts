import type { Config } from "../config/schema.ts";
import { parseEncryptionKey } from "../formats/encryption_key.ts";
import type { RecordFileOptions, RecordSettings } from "./record_file.ts";
import type { RecordPolicy } from "./record_mask.ts";

/** Returns the settings of a file of records by the configuration. */
export function recordSettings(config: Pick<Config, "record" | "privacy">): RecordSettings {
  const { max_bytes: maxBytes, keep: keepMs, policy } = config.record;
  return { maxBytes, keepMs, policy: recordPolicy(policy, config) };
}

/**
 * Returns what a policy masks in records: its rules act on requests and responses, because an
 * answer may repeat what a client has sent.
 */
export function recordPolicy(name: string, { privacy }: Pick<Config, "privacy">): RecordPolicy {
  if (name === "credentials" || name === "none") return name;
  const policy = privacy.policies.find((one) => one.name === name);
  return {
    rules: privacy.rules.filter((rule) => policy?.rules.includes(rule.name) === true),
    maxMs: privacy.max_search_time,
  };
}

/** Returns what the file of records is opened with by the configuration. */
export function recordFileOptions(
  config: Pick<Config, "record" | "state" | "privacy">,
): RecordFileOptions {
  const { record: { path }, state: { encryption_keys } } = config;
  const keys = encryption_keys.flatMap((text) => parseEncryptionKey(text) ?? []);
  return { path, keys, ...recordSettings(config) };
}
