import type { HeaderFields, RequestHeaders } from "../../../core/header_fields.ts";
import type { UpstreamRequest } from "../../../wires/wire.ts";

/** The client's own version of the API, for which its request is written; null if it names none. */
export function clientVersion(client: RequestHeaders): string | null {
  return client.get("anthropic-version") || null;
}

/**
 * Returns the headers of a request that is passed on: the client's API version and beta names,
 * unchanged. Without a version the provider's applies, and without beta names `Messages-Beta`; the
 * wire sets both. No other header of the client is sent.
 */
export function relayedHeaders(
  client: RequestHeaders,
  isStream: boolean,
): Required<Pick<UpstreamRequest, "headers" | "versionHeaders">> {
  const version = clientVersion(client);
  const beta = client.get("anthropic-beta") ?? "";
  const versionHeaders: HeaderFields = {
    ...version !== null && { "anthropic-version": version },
    ...beta !== "" && { "anthropic-beta": beta },
  };
  return {
    headers: { accept: isStream ? "text/event-stream" : "application/json" },
    versionHeaders,
  };
}
