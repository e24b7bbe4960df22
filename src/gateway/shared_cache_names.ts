import { createHash, createHmac } from "node:crypto";
import type { Config, ProviderConfig } from "../config/schema.ts";
import { identifiesClients } from "../config/security_rules.ts";
import { VERSION } from "../core/build.ts";

/**
 * Returns the prefix of a provider's keys in a shared cache: a digest of its ID and all settings,
 * which include its keys. It is keyed with the first encryption key, so that a reader of the store
 * cannot try out provider keys; without encryption keys, with the provider's own keys.
 */
export function sharedNamespace(
  id: string,
  settings: ProviderConfig,
  encryptionKeys: readonly string[],
): string {
  const own = settings.api_keys.map(({ value, credential }) =>
    credential === undefined ? value : JSON.stringify(credential)
  );
  const key = encryptionKeys[0] ?? own.join("\n");
  return createHmac("sha256", key).update(JSON.stringify([id, settings])).digest("hex");
}

/**
 * Returns the prefix of all keys in a shared cache: a digest of the gateway's version and of the
 * settings that decide whose responses are stored and for how long. Any change of them leaves the
 * stored responses unreachable until they expire.
 */
export function sharedCachePrefix({ caching, security }: Config): string {
  const { isolate_clients } = security;
  const access = identifiesClients(security) ? { isolate_clients } : null;
  const settings = JSON.stringify([VERSION, caching, access]);
  return createHash("sha256").update(settings).digest("hex");
}
