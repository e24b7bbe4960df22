import type { RequestHeaders } from "../core/header_fields.ts";
import type { ClientKey } from "./client_key.ts";

/** Where clients send their keys, named as in the configuration. */
export interface KeyPlace {
  readonly header: string;
  /** Scheme before the key; empty for none. */
  readonly prefix: string;
  readonly allow_x_api_key: boolean;
}

/** Returns the header line that carries a key, or the name of a variable with it. */
export function keyField({ header, prefix }: Omit<KeyPlace, "allow_x_api_key">, key: string) {
  return `${header}: ${prefix === "" ? "" : `${prefix} `}${key}`;
}

/** Returns the key in the request headers, or an empty text. */
export function presentedKey(headers: RequestHeaders, place: KeyPlace): string {
  const key = afterPrefix(headers.get(place.header) ?? "", place.prefix);
  return key !== "" || !place.allow_x_api_key ? key : headers.get("x-api-key") ?? "";
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

/** Keys and tokens that a configuration accepts. */
export interface AcceptedKeys {
  readonly clientKeys: readonly ClientKey[];
  /** Null if tokens are not accepted. */
  readonly tokens: object | null;
  readonly config: { readonly security: { readonly api_key: KeyPlace } };
}

/** True if `/v1/*` requires a client key or a token. */
export function requiresKey({ clientKeys, tokens }: Omit<AcceptedKeys, "config">): boolean {
  return clientKeys.length > 0 || tokens !== null;
}

/**
 * True for the lower-case name of a header with a client key, or with an end user of the key of a
 * call: neither is recorded or shared. If the key is refused, any key may name the header.
 */
export function isPrivateHeader(
  name: string,
  { clientKeys, config }: AcceptedKeys,
  key: ClientKey | null,
): boolean {
  if (name === config.security.api_key.header.toLowerCase()) return true;
  const keys = key === null ? clientKeys : [key];
  return keys.some(({ endUsers }) => endUsers?.header === name);
}
