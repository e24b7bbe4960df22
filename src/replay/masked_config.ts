import type { Config } from "../config/schema.ts";
import { maskedProviders } from "../record/masked_providers.ts";
import { MAX_SET_RECORDS } from "./record_set.ts";

/** Maximum size in memory of the continued responses of a set, and of its conversations. */
const MAX_STORED_BYTES = 256 * 1024 * 1024;

/**
 * Returns a configuration without the secrets of providers: names stand in their place, so that two
 * files with other secrets are equal, and no report can show one. Objects of clients are stored in
 * memory, wherever and however many of them the file stores.
 */
export function maskedConfig(config: Config): Config {
  const { store } = config.state;
  return {
    ...config,
    providers: maskedProviders(config),
    state: {
      ...config.state,
      store: store === "none" ? "none" : "memory",
      max_entries: MAX_SET_RECORDS,
      max_bytes: MAX_STORED_BYTES,
    },
    caching: { ...config.caching, enabled: false },
  };
}
