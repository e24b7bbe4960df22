import * as z from "zod";
import { labelName, section, text } from "./fields.ts";

/** Maximum number of issuers: each has its keys fetched by itself. */
const MAX_ISSUERS = 32;

/** Signature algorithms of tokens; symmetric ones are not among them. */
const TOKEN_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "EdDSA",
] as const;

const rule = section({
  claim: text().describe("Claim of the token, or its path as in realm_access.roles."),
  values: z.array(text()).min(1)
    .describe("Patterns of the claim, or of an element of its list; * matches any text."),
  template: text().describe("Name of the template for tokens that the rule fits."),
});

const issuer = section({
  name: z.string().regex(/^[A-Za-z0-9._-]+$/, {
    error: "must be letters, digits, dots, underscores and hyphens",
  }).describe("Unique name of the issuer in logs, metrics and names of clients."),
  issuer: text().describe("Claim iss of its tokens, compared byte for byte."),
  jwks_url: text().optional().describe(
    "Address of its key set, fetched ahead of time; https, or http on a loopback address. " +
      "Either jwks_url or jwks_file is set.",
  ),
  jwks_file: text().optional()
    .describe("File with its key set, relative to this file; read again when it changes."),
  audience: z.array(text()).min(1)
    .describe("Audiences of this gateway; a token must have one of them in aud."),
  algorithms: z.array(z.enum(TOKEN_ALGORITHMS)).min(1)
    .describe("Signature algorithms of its tokens."),
  subject: text().default("sub").describe("Claim that names the client; with Entra, oid."),
  labels: z.record(labelName(), text()).default({})
    .describe("Labels of the client by name, each with its claim."),
  rules: z.array(rule).min(1)
    .describe("The first rule that fits a token gives its template; without one it is refused."),
});

/** Schema of `security.jwt`. */
export const jwtSchema = section({
  issuers: z.array(issuer).max(MAX_ISSUERS).default([])
    .describe(`Issuers of tokens, at most ${MAX_ISSUERS}; at least one with provider: jwt.`),
});
