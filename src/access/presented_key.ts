import type { RequestHeaders } from "../core/header_fields.ts";

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
