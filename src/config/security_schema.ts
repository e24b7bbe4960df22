import { MAX_END_USERS } from "../core/end_users.ts";
import * as z from "zod";
import { CALENDAR_PERIODS, isDate, isTimeZone } from "../core/calendar.ts";
import { ENDPOINT_NAMES } from "../core/endpoint.ts";
import { jwtSchema } from "./jwt_schema.ts";
import { policyName } from "./privacy_schema.ts";
import { decimal, flag, headerName, integer, labels, listener, section, text } from "./fields.ts";
import { recordChoice } from "./record_schema.ts";

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
 * Schema of a secret that is sent in a header; blank text means none. Characters that a header
 * cannot carry are refused, because such a secret would never match.
 */
export const secretValue = z.string().regex(/^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?|\s*)$/, {
  error: "must be one line of printable ASCII characters without blanks around it",
});

/** Minimum of `usd`: a budget of 0 would be a disabled key. */
const MIN_BUDGET_USD = 0.000001;

/** Maximum of `usd`: nano-dollars must be exact. */
export const MAX_BUDGET_USD = 1_000_000;

const budget = section({
  per: z.enum(CALENDAR_PERIODS)
    .describe(
      "Calendar window in security.time_zone, in which use is added up; weeks begin on Monday.",
    ),
  usd: decimal(MIN_BUDGET_USD, MAX_BUDGET_USD).optional()
    .describe("Maximum cost in USD; usd, tokens or both are set."),
  tokens: integer(1).optional().describe("Maximum number of input and output tokens."),
});

const budgets = z.array(budget).default([]).describe(
  "Budgets. A request is admitted while each one has something left, and counted at its end.",
);

const date = z.string().refine(isDate, { error: "must be a date such as 2027-06-30" });

/** A secret by its value or by its digest. */
const SECRET = {
  value: secretValue.optional()
    .describe("Secret that the client sends, normally ${NAME}; either value or sha256 is set."),
  sha256: z.string().regex(/^[0-9a-fA-F]{64}$/, { error: "must be 64 hexadecimal digits" })
    .optional().describe("SHA-256 digest of the secret, as printed by switchyard key new."),
};

/** Maximum number of replaced secrets of a key. */
const MAX_PREVIOUS = 2;

const previousSecret = section({
  ...SECRET,
  until: date.describe("First day on which this secret is refused, in security.time_zone."),
});

/** Permissions, limits and labels of one client, which a template has too. */
const PROFILE = {
  requests_per_minute: integer(1).optional()
    .describe("Rate limit of this client; default: rate_limiting.requests_per_minute."),
  tokens_per_minute: integer(1).optional()
    .describe("Maximum number of input and output tokens per minute; no limit by default."),
  max_concurrent: integer(1).optional()
    .describe("Maximum number of concurrent requests; no limit by default."),
  models: z.array(text()).min(1).optional().describe(
    "Patterns of the models that the key may use, as model or <provider>/<model>; " +
      "* matches any text. All by default.",
  ),
  providers: z.array(text()).min(1).optional()
    .describe("IDs of the providers that the key may use; all by default."),
  endpoints: z.array(z.enum(ENDPOINT_NAMES)).min(1).optional()
    .describe("Endpoints that the key may use; all by default."),
  budgets: budgets,
  adopt_unknown: flag().optional().describe(
    "With isolate_clients: let the key use objects at providers of which no owner is known, such as " +
      "those from before the gateway; it does not become their owner. Not by default.",
  ),
  privacy: policyName,
  labels: labels().describe(
    "Labels by name, for match.labels of routes and observability.key_labels.",
  ),
};

const endUsers = section({
  header: headerName().describe("Request header that names the end user; never forwarded."),
  required: flag().prefault(false).describe("Refuse requests without the header."),
  template: text().optional()
    .describe("Name of a template, whose limits hold for each end user; it must have only limits."),
  max: integer(1, MAX_END_USERS).prefault(1_000)
    .describe(
      "Maximum number of end users with limits in use at the same time in a process, at most " +
        `${MAX_END_USERS}.`,
    ),
});

const clientKey = section({
  name: text().describe("Unique name of the client in logs; owner of what the key creates."),
  ...SECRET,
  previous: z.array(previousSecret).max(MAX_PREVIOUS).default([])
    .describe(
      `Replaced secrets of the same client, at most ${MAX_PREVIOUS}, each accepted until a day.`,
    ),
  template: text().optional().describe(
    "Name of a template, for what the key does not set itself; labels of both are joined.",
  ),
  ...PROFILE,
  end_users: endUsers.optional().describe(
    "End users behind the key, whom a trusted front end names: each has limits and objects alone.",
  ),
  expires: date.optional()
    .describe("First day on which the key is refused, in security.time_zone."),
  disabled: flag().prefault(false).describe("Refuse the key."),
  record: recordChoice().describe(
    "What is recorded of the calls of the key: none, heads, all, or never, which no other place " +
      "overrules. The most of key, group, route and record.calls is recorded.",
  ),
});

const template = section({ name: text().describe("Unique name of the template."), ...PROFILE });

const group = section({
  name: text().describe("Unique name of the group."),
  keys: z.array(text()).default([]).describe("Names of the client keys of the group."),
  templates: z.array(text()).default([])
    .describe("Names of templates: all clients that have one of them are in the group."),
  tokens_per_minute: integer(1).optional()
    .describe("Maximum number of tokens per minute of all its keys together."),
  privacy: policyName,
  budgets: budgets,
  record: recordChoice().describe("What is recorded of the calls of its keys, as record of a key."),
});

/** Where clients send their keys unless the configuration says otherwise. */
export const USUAL_KEY_PLACE = { header: "Authorization", prefix: "Bearer" } as const;

/** Schema of `security`: client authentication. */
export const securitySchema = section({
  enabled: flag().prefault(false).describe("Require a client key on /v1/*."),
  provider: z.enum(["none", "api_key", "jwt"]).default("api_key").describe(
    "Authentication method; none requires no key, jwt accepts tokens of issuers and client keys.",
  ),
  api_key: section({
    header: headerName().default(USUAL_KEY_PLACE.header)
      .describe("Request header that carries the key."),
    prefix: z.string().regex(/^[\x21-\x7e]*$/, {
      error: "must be printable ASCII characters without blanks",
    }).default(USUAL_KEY_PLACE.prefix)
      .describe(`Scheme before the key; may be empty if header is not ${USUAL_KEY_PLACE.header}.`),
    allow_x_api_key: flag().prefault(true)
      .describe("Accept the key in X-API-Key too."),
    keys: z.array(clientKey).default([]).describe("Client keys; at least one if enabled."),
  }).prefault({}).describe("Client keys and where they are sent."),
  groups: z.array(group).default([])
    .describe("Groups of client keys; their limits hold for all keys of a group together."),
  templates: z.array(template).default([])
    .describe("Permissions, limits and labels that several clients have, each for itself."),
  jwt: jwtSchema.prefault({}).describe("Tokens of identity providers, with provider: jwt."),
  time_zone: z.string().refine(isTimeZone, {
    error: "must be the name of a time zone such as UTC or Europe/Berlin",
  }).default("UTC").describe("Time zone of budgets and of expires."),
  isolate_clients: flag().prefault(true).describe(
    "Hide the responses, conversations, stored completions, files, batches and uploads of each " +
      "client key from all other keys; false shares them. Without client keys they are always shared.",
  ),
});

/** Schema of `admin`: the listener of the admin page. */
export const adminSchema = section({
  enabled: flag().prefault(false)
    .describe("Serve the admin page, read only; nothing is collected for it while it is off."),
  ...listener(8081),
  password: secretValue.optional().describe(
    "Password of the page, normally ${NAME}; required unless host is a loopback address.",
  ),
});
