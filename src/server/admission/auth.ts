import { createHash, timingSafeEqual } from "node:crypto";
import type { Config } from "../../config/schema.ts";
import { type Failed, refuse, type Result, success } from "../../core/failure/result.ts";
import type { Call } from "../../call/call.ts";
import { type ClientKey, isExpired } from "../../access/client_key.ts";
import type { RequestHeaders } from "../../core/header_fields.ts";

type KeySettings = Config["security"]["api_key"];

/**
 * Returns the client key of the request; null if authentication is off. Refused as
 * `missing_api_key` or `invalid_api_key`, with a challenge (RFC 9110, section 11.6.1).
 */
export function authenticate(call: Call): Result<ClientKey | null> {
  const { generation: { clientKeys, config }, headers, responseHeaders } = call;
  if (clientKeys.length === 0) return success(null);
  const settings = config.security.api_key;
  const presented = presentedKey(headers, settings);
  const key = presented === "" ? null : findKey(presented, clientKeys);
  const lapsed = key === null ? null : refuseLapsed(key, call);
  if (key !== null && lapsed === null) {
    setClient(call, key);
    return success(key);
  }
  responseHeaders["www-authenticate"] = 'Bearer realm="gateway"';
  if (lapsed !== null) return lapsed;
  return presented === ""
    ? refuse("missing_api_key", `Send a client key in the header ${describeKeyHeader(settings)}.`)
    : refuse("invalid_api_key", "This client key is not known here; send one that is.");
}

/** Returns the refusal of a key that is disabled or has expired; null if it is valid now. */
function refuseLapsed(key: ClientKey, { world }: Call): Failed | null {
  if (key.isDisabled) {
    return refuse("invalid_api_key", "This client key is disabled; send one that is not.");
  }
  return isExpired(key, world.wall())
    ? refuse("invalid_api_key", "This client key has expired; send one that is valid.")
    : null;
}

function setClient({ generation: { config }, report, caller, client }: Call, key: ClientKey): void {
  report.client = key.name;
  report.keyLabels = key.reported;
  caller.name = key.caller;
  caller.isIsolated = config.security.isolate_clients;
  client.key = key;
}

/**
 * Returns the client key with the presented value. Every key is compared,
 * each in constant time, so that timing reveals no key.
 */
function findKey(presented: string, keys: readonly ClientKey[]): ClientKey | null {
  const digest = createHash("sha256").update(presented).digest();
  let found: ClientKey | null = null;
  for (const key of keys) {
    if (timingSafeEqual(key.digest, digest)) found ??= key;
  }
  return found;
}

/** Returns the key in the request headers, or an empty text. */
function presentedKey(headers: RequestHeaders, settings: KeySettings): string {
  const key = afterPrefix(headers.get(settings.header) ?? "", settings.prefix);
  return key !== "" || !settings.allow_x_api_key ? key : headers.get("x-api-key") ?? "";
}

/**
 * Returns the header value after the prefix; empty if the prefix is missing. Scheme names are
 * case-insensitive (RFC 9110, section 11.1).
 */
function afterPrefix(value: string, prefix: string): string {
  if (prefix === "") return value;
  const [start, rest] = [value.slice(0, prefix.length), value.slice(prefix.length)];
  return start.toLowerCase() === prefix.toLowerCase() && rest.startsWith(" ") ? rest.trim() : "";
}

function describeKeyHeader({ header, prefix, allow_x_api_key }: KeySettings): string {
  const form = `${header}: ${prefix === "" ? "" : `${prefix} `}KEY`;
  return allow_x_api_key ? `${form} or X-API-Key: KEY` : form;
}
