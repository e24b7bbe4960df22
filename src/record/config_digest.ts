import { createHash } from "node:crypto";
import type { Config } from "../config/schema.ts";
import { maskedProviders } from "./masked_providers.ts";

/** Names of members with secrets, wherever they are. */
const SECRET_MEMBERS: ReadonlySet<string> = new Set([
  "value",
  "sha256",
  "api_key",
  "password",
  "encryption_keys",
  "identity",
  "client_secret",
  "secret_access_key",
  "session_token",
  "secret",
]);

/** Length of a digest, in hexadecimal digits. */
const DIGEST_CHARS = 16;

const digests = new WeakMap<Config, string>();

/**
 * Returns a digest of a configuration without its secrets, by which a record names the file it was
 * made under.
 */
export function configDigest(config: Config): string {
  const known = digests.get(config);
  if (known !== undefined) return known;
  const shown = { ...config, providers: maskedProviders(config) };
  const text = JSON.stringify(shown, (name, value: unknown) => {
    // `security.api_key` is a section, not a secret.
    const isSecret = SECRET_MEMBERS.has(name) &&
      (typeof value !== "object" || Array.isArray(value) || name === "identity");
    return isSecret ? null : value;
  });
  const digest = createHash("sha256").update(text).digest("hex").slice(0, DIGEST_CHARS);
  digests.set(config, digest);
  return digest;
}
