import { z } from "zod";
import { decimal, duration, flag, integer, section, text } from "./fields.ts";
import { dataSharingSchema, generalSchema, updateCheckSchema } from "./outbound_schema.ts";
import { PRICED_MODEL } from "./pricing_rules.ts";
import { PROVIDER_ID, type PROVIDER_TYPES, providerSchema } from "./provider_schema.ts";
import { routingSchema } from "./routing_schema.ts";
import { hostName, securitySchema, webOrigin } from "./security_schema.ts";
import type { ProviderTls } from "./tls_rules.ts";

/** The default of `server.max_body_memory`. */
const MAX_BODY_MEMORY_BYTES = 256 * 1024 * 1024;

const server = section({
  host: z.string().regex(/^[A-Za-z0-9._:-]+$/, { error: "must be an IP address or a host name" })
    .default("127.0.0.1").describe("The IP address or host name to listen on."),
  port: integer(0, 65_535).prefault(8080).describe("The port to listen on; 0 picks a free one."),
  drain_timeout: duration(0).prefault("30s")
    .describe("How long running calls may go on when the gateway is told to end."),
  drain_delay: duration(0).prefault("0s")
    .describe("How long calls are still taken then, while /ready says draining already."),
  idle_timeout: duration(1_000).prefault("120s")
    .describe(
      "How long a client connection without a request in flight stays open, at least 1s. On Linux.",
    ),
  body_timeout: duration(1).prefault("30s")
    .describe(
      "The longest wait for more bytes of a request body; then 408 and the connection ends.",
    ),
  max_json_members: integer(1).prefault(200_000)
    .describe("The most members and elements of a JSON request, all levels counted; more is 413."),
  max_concurrent_requests: integer(1).prefault(1_000)
    .describe("The most calls below /v1/ that run at once; one more is 503 with Retry-After."),
  max_body_memory: integer(1).prefault(MAX_BODY_MEMORY_BYTES)
    .describe("The most bytes of request bodies held at once; beyond that 503 with Retry-After."),
  allowed_hosts: z.array(hostName).default([])
    .describe(
      "Host names by which clients may call, beside IP addresses, localhost, server.host and the " +
        "machine's name; checked while no client keys are asked for, and always for /metrics.",
    ),
  allowed_origins: z.array(webOrigin).default([])
    .describe("Web origins whose pages may call; * stands for any part of a host, or for all."),
});

const logging = section({
  level: z.enum(["debug", "info", "warn", "error"]).default("info")
    .describe("The least important level that is written."),
  format: z.enum(["console", "json"]).default("console").describe("How a log line is written."),
});

const rateLimiting = section({
  enabled: flag().prefault(false).describe("Whether callers are held to a rate."),
  requests_per_minute: integer(1).prefault(60)
    .describe("The requests that a caller may go on making."),
  burst_size: integer(1).prefault(10).describe("The requests that it may make at once."),
});

const retry = section({
  enabled: flag().prefault(true).describe("Whether a failed attempt is repeated."),
  max_attempts: integer(1, 10).prefault(3)
    .describe("The attempts per target, the first included."),
  initial_delay: duration(0).prefault("1s").describe("The wait before the first repeat."),
  max_delay: duration(0).prefault("30s").describe("The longest wait before a repeat."),
  multiplier: decimal(1).prefault(2).describe("How much longer each wait is than the one before."),
  jitter_factor: decimal(0, 1).prefault(0.2).describe("How much of a wait is left to chance."),
  retryable_errors: z.array(integer(400, 599)).prefault([429, 500, 502, 503, 504, 529])
    .describe("The upstream statuses that are worth a repeat."),
});

const circuitBreaker = section({
  enabled: flag().prefault(true).describe("Whether a failing upstream is left alone for a while."),
  failure_threshold: integer(1).prefault(5)
    .describe("The failures in a row that open the breaker."),
  window: duration(1).prefault("60s").describe("The time within which those failures count."),
  open_duration: duration(1).prefault("30s").describe("How long the breaker stays open."),
  half_open_max_requests: integer(1).prefault(3)
    .describe("The trial requests after that; as many successes close the breaker."),
});

const LARGEST_ENTRY = 16 * 1024 * 1024;

/** The default of `caching.max_bytes`. */
export const LARGEST_CACHE = 64 * 1024 * 1024;

const caching = section({
  enabled: flag().prefault(false).describe("Whether answers are kept for identical requests."),
  ttl: duration(1).prefault("1h").describe("How long an answer is kept."),
  max_size: integer(0).prefault(1000).describe("The most answers that are kept; 0 keeps none."),
  max_entry_bytes: integer(1).prefault(LARGEST_ENTRY)
    .describe("A larger answer is not kept; at most max_bytes, which also caps the default."),
  max_bytes: integer(1).prefault(LARGEST_CACHE)
    .describe("The bytes of all kept answers and their keys."),
  per_key: flag().prefault(false)
    .describe("Whether each client key has kept answers apart from those of the other keys."),
});

const price = section({
  input: decimal(0).describe("Input, without what the provider had cached."),
  output: decimal(0).describe("Output, reasoning included."),
  cached_input: decimal(0).optional()
    .describe("Input read from the provider's cache; as input when absent."),
  cache_write: decimal(0).optional()
    .describe("Input written to the provider's cache; as input when absent."),
});

const pricing = z.record(
  z.string().regex(PRICED_MODEL, { error: "must be <provider>/<model>" }),
  price,
);

const telemetry = section({
  service_name: text().default("switchyard")
    .describe("The service that spans are told under; OTEL_SERVICE_NAME wins."),
});

/** The file as it may be written. Rules between keys are not in here. */
export const configSchema = section({
  server: server.prefault({}).describe("Where the gateway listens."),
  logging: logging.prefault({}).describe("What the gateway logs."),
  providers: z.record(
    z.string().regex(PROVIDER_ID, {
      error:
        "must be an ID of letters, digits, dots, underscores and hyphens that begins with a letter or digit",
    }),
    providerSchema,
  ).describe("The upstream accounts by ID; at least one."),
  routing: routingSchema.describe("Where requests go."),
  security: securitySchema.prefault({}).describe("Who may call."),
  rate_limiting: rateLimiting.prefault({}).describe("How often a caller may call."),
  retry: retry.prefault({}).describe("How failed attempts are repeated."),
  circuit_breaker: circuitBreaker.prefault({})
    .describe("When an upstream is left alone."),
  caching: caching.prefault({}).describe("Which answers are kept and for how long."),
  pricing: pricing.prefault({})
    .describe("USD per million tokens by <provider>/<model>; wins over the built-in prices."),
  telemetry: telemetry.prefault({})
    .describe("How spans are told, when an OTEL_EXPORTER_OTLP_ENDPOINT is set."),
  general: generalSchema.prefault({}).describe("Who the gateway is to its dashboard."),
  data_sharing: dataSharingSchema.prefault({}).describe("What the dashboard is told."),
  update_check: updateCheckSchema.prefault({})
    .describe("How the gateway learns of a newer release."),
});

type Frozen<T> = T extends readonly (infer Item)[] ? readonly Frozen<Item>[]
  : T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> }
  : T;

/** The file after defaults, before what the provider types decide. */
export type WrittenConfig = z.output<typeof configSchema>;

/** One provider as it is written, after defaults. */
export type WrittenProvider = z.output<typeof providerSchema>;

/** The words of `providers.*.type`. */
export type ProviderType = (typeof PROVIDER_TYPES)[number];

/**
 * One provider after all defaults, without the keys that its type does not use. Durations in
 * milliseconds; an empty key or organization is absent.
 */
export type ProviderConfig = Frozen<
  Omit<WrittenProvider, "type" | "base_url" | "normalize_developer_role" | "tls"> & {
    type: ProviderType;
    /** As written or the one that is known: absolute, http or https, maybe with a slash at its end or a query. */
    base_url: string;
    normalize_developer_role: boolean;
    /** With the contents of its files. */
    tls?: ProviderTls;
  }
>;

/** Valid, complete and frozen. Keys are named as in the file; durations are milliseconds. */
export type Config = Frozen<
  Omit<WrittenConfig, "providers"> & { providers: Record<string, ProviderConfig> }
>;

/** One route; `match.path` is a literal prefix, empty for any path. */
export type RouteConfig = Config["routing"]["routes"][number];
