import { ROUTED_PATHS } from "../core/endpoint.ts";

/** Path of an explained request that names none. */
export const USUAL_PATH = ROUTED_PATHS.chat_completions;

/** Pattern of a header field as `NAME=VALUE` or `NAME: VALUE` (RFC 9110, fields). */
const HEADER = /^([\w!#$%&'*+.^`|~-]+)[\t ]*[:=]([\t\x20-\x7e\x80-\xff]*)$/;

/** Pattern of a header value (RFC 9110, field values). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Returns the headers of a request that is explained: the written ones as `NAME=VALUE` or
 * `NAME: VALUE`, and that of the provider unless it is empty; or the problem with them as a sentence.
 */
export function parseExplainedHeaders(
  written: readonly string[],
  provider: string,
): Headers | string {
  const headers = new Headers();
  for (const one of written) {
    const [, name, value = ""] = HEADER.exec(one) ?? [];
    if (name === undefined) return "header must be written NAME=VALUE or NAME: VALUE.";
    headers.append(name, value);
  }
  if (!HEADER_VALUE.test(provider)) return "provider must be the ID of a provider.";
  if (provider !== "") headers.set("x-gateway-provider", provider);
  return headers;
}
