import type { Config, ProviderConfig } from "../config/schema.ts";
import { SECRET_NAME } from "../core/secret_name.ts";

/**
 * Returns the providers of a configuration with names in the place of their keys, and of what is
 * likely a secret in their headers and addresses.
 */
export function maskedProviders({ providers }: Pick<Config, "providers">): Config["providers"] {
  return Object.fromEntries(
    Object.entries(providers).map(([id, provider]) => [id, maskedProvider(provider)] as const),
  );
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
