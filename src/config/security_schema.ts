import { z } from "zod";
import { flag, headerName, integer, section, text } from "./fields.ts";

/** Schema of a host name as in a `Host` header, without the port. */
export const hostName = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/, {
  error: "must be a host name such as gateway.example.com, without a scheme and a port",
});

const ORIGIN =
  /^(?:\*|[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._*-]+)(?::(?:\d{1,5}|\*))?)$/;

/** Schema of a web origin (RFC 6454, section 6.2); `*` matches any part. */
export const webOrigin = z.string().regex(ORIGIN, {
  error:
    "must be *, or a scheme, a host and an optional port without a path, such as https://*.example.com",
});

/**
 * Schema of a secret that is sent in a header; blank text means none. Characters that a header cannot
 * carry are refused, because such a secret would never match.
 */
export const secretValue = z.string().regex(/^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?|\s*)$/, {
  error: "must be one line of printable ASCII characters without blanks around it",
});

const clientKey = section({
  name: text().describe("Unique name of the client in logs; owner of what the key creates."),
  value: secretValue.describe("Secret that the client sends, normally ${NAME}."),
  requests_per_minute: integer(1).optional()
    .describe("Rate limit of this client; default: rate_limiting.requests_per_minute."),
});

/** Schema of `security`: client authentication. */
export const securitySchema = section({
  enabled: flag().prefault(false).describe("Require a client key on /v1/*."),
  provider: z.enum(["none", "api_key"]).default("api_key")
    .describe("Authentication method; none requires no key."),
  api_key: section({
    header: headerName().default("Authorization").describe("Request header that carries the key."),
    prefix: z.string().regex(/^[\x21-\x7e]*$/, {
      error: "must be printable ASCII characters without blanks",
    }).default("Bearer")
      .describe("Scheme before the key; may be empty if header is not Authorization."),
    allow_x_api_key: flag().prefault(true)
      .describe("Accept the key in X-API-Key too."),
    keys: z.array(clientKey).default([]).describe("Client keys; at least one if enabled."),
  }).prefault({}).describe("Client keys and where they are sent."),
  isolate_clients: flag().prefault(true).describe(
    "Hide the responses, conversations and stored completions of each client key from " +
      "all other keys; false shares them. Without client keys they are always shared.",
  ),
});
