import type { Config } from "../config/schema.ts";
import { maskedProviders } from "../record/masked_providers.ts";

/**
 * Returns a configuration without the secrets of providers: names stand in their place, so that two
 * files with other secrets are equal, and no report can show one. Objects of clients are stored in
 * memory, wherever the file stores them.
 */
export function maskedConfig(config: Config): Config {
  const { store } = config.state;
  return {
    ...config,
    providers: maskedProviders(config),
    state: { ...config.state, store: store === "none" ? "none" : "memory" },
    caching: { ...config.caching, enabled: false },
  };
}
