import { z } from "zod";
import { flag, headerName, integer, section, text } from "./fields.ts";

/** A host name as it stands in a `Host` header, without its port. */
export const hostName = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/, {
  error: "must be a host name such as gateway.example.com, without a scheme and a port",
});

const ORIGIN =
  /^(?:\*|[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._*-]+)(?::(?:\d{1,5}|\*))?)$/;

/** A web origin (RFC 6454, section 6.2) in which `*` may stand for a part. */
export const webOrigin = z.string().regex(ORIGIN, {
  error: "must be *, or scheme, host and maybe a port such as https://*.example.com, and no path",
});

/**
 * A secret that goes in a header; a blank one is none. What a header cannot carry, or loses on the
 * way, could never be equal.
 */
export const secretValue = z.string().regex(/^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?|\s*)$/, {
  error: "must be one line of printable ASCII characters without blanks around it",
});

const clientKey = section({
  name: text().describe("What log lines call the client; unique among the keys."),
  value: secretValue.describe("The secret that the client sends, normally ${NAME}."),
  requests_per_minute: integer(1).optional()
    .describe("The rate limit of this client; that of rate_limiting when absent."),
});

/** Who may call. */
export const securitySchema = section({
  enabled: flag().prefault(false).describe("Whether /v1/* asks for a client key."),
  provider: z.enum(["none", "api_key"]).default("api_key")
    .describe("How clients are known; none asks for nothing."),
  api_key: section({
    header: headerName().default("Authorization").describe("The header that carries the key."),
    prefix: z.string().regex(/^[\x21-\x7e]*$/, {
      error: "must be printable ASCII characters without blanks",
    }).default("Bearer")
      .describe("The word before the key; may be empty when header is not Authorization."),
    allow_x_api_key: flag().prefault(true)
      .describe("Whether X-API-Key is looked at when that header has no key."),
    keys: z.array(clientKey).default([]).describe("The clients; at least one when enabled."),
  }).prefault({}).describe("The keys of clients."),
  isolate_clients: flag().prefault(true).describe(
    "Whether responses, conversations and stored completions of one client key do not exist for " +
      "the other keys; false lets all keys share them. Without client keys everybody shares them.",
  ),
});
