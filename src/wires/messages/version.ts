import type { ProviderConfig } from "../../config/schema.ts";

/**
 * Default API version: the first version, because it has the sampling fields that a provider may
 * configure.
 */
const DEFAULT_API_VERSION = "2023-06-01";

/** Returns the API version for requests that the gateway writes itself (Messages API, versions). */
export function providerVersion({ api_version }: Pick<ProviderConfig, "api_version">): string {
  return api_version ?? DEFAULT_API_VERSION;
}
