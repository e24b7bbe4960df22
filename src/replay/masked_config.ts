import type { Config, ProviderConfig } from "../config/schema.ts";
import { SECRET_NAME } from "../core/secret_name.ts";

/**
 * Returns a configuration without the secrets of providers: names stand in their place, so that two
 * files with other secrets are equal, and no report can show one. Objects of clients are stored in
 * memory, wherever the file stores them.
 */
export function maskedConfig(config: Config): Config {
  const providers = Object.entries(config.providers)
    .map(([id, provider]) => [id, maskedProvider(provider)] as const);
  const { store } = config.state;
  return {
    ...config,
    providers: Object.fromEntries(providers),
    state: { ...config.state, store: store === "none" ? "none" : "memory" },
    caching: { ...config.caching, enabled: false },
  };
}

function maskedProvider(provider: ProviderConfig): ProviderConfig {
  const headers = Object.entries(provider.headers).map(([name, value]) =>
    [name, SECRET_NAME.test(name) ? `«header ${name}»` : value] as const
  );
  return {
    ...provider,
    api_keys: provider.api_keys.map((key) => ({ ...key, value: `«key ${key.name}»` })),
    headers: Object.fromEntries(headers),
    base_url: maskedUrl(provider.base_url),
  };
}

/**
 * Returns an address without user and password; of parameters that are likely secrets only the
 * names.
 */
function maskedUrl(written: string): string {
  const url = new URL(written);
  if (url.username === "" && url.password === "" && url.search === "") return written;
  url.username = "";
  url.password = "";
  for (const name of [...url.searchParams.keys()]) {
    if (SECRET_NAME.test(name)) url.searchParams.set(name, `«${name}»`);
  }
  return url.href;
}
