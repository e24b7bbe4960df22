import * as z from "zod";
import type { RelayFamily } from "../core/endpoint.ts";
import { decimal, duration, flag, integer, labelName, listener, section, text } from "./fields.ts";
import { modelsSchema } from "./models_schema.ts";
import { dataSharingSchema, generalSchema, updateCheckSchema } from "./outbound_schema.ts";
import { privacySchema } from "./privacy_schema.ts";
import { PROVIDER_ID, type PROVIDER_TYPES, providerSchema } from "./provider_schema.ts";
import { recordSchema } from "./record_schema.ts";
import { routingSchema } from "./routing_schema.ts";
import { adminSchema, hostName, securitySchema, webOrigin } from "./security_schema.ts";
import { stateSchema } from "./state_schema.ts";

/** Maximum number of `observability.key_labels`: each one multiplies the series of the metrics. */
const MAX_REPORTED_LABELS = 8;

/**
 * The default of `server.max_upload`: the Python SDK sends the parts of an upload in requests of 64
 * MiB and their form.
 */
const MAX_UPLOAD_BYTES = 68 * 1024 * 1024;

/** The default of `server.max_body_memory` and `server.max_response_memory`. */
const MAX_BODY_MEMORY_BYTES = 256 * 1024 * 1024;

/** Maximum number of `server.workers`, also of `auto`. */
export const MAX_WORKERS = 64;

/** Pattern of `server.workers`: `auto`, or a number up to the maximum. */
const WORKERS = /^\s*(?:auto|[1-9]|[1-5][0-9]|6[0-4])\s*$/;

/** Returns the schema of a number of processes, which may be the number of cores. */
function workerNumber() {
  return z.string().regex(WORKERS, { error: `must be auto or a number from 1 to ${MAX_WORKERS}` })
    .transform((written) => written.trim() === "auto" ? "auto" as const : Number(written));
}

const server = section({
  ...listener(8080),
  workers: workerNumber().prefault("1")
    .describe(
      "Number of processes that serve requests, or auto for one for each core. More than one needs " +
        "Linux and state.store valkey or none.",
    ),
  drain_timeout: duration(0).prefault("30s")
    .describe("Time for which running requests may continue during shutdown."),
  drain_delay: duration(0).prefault("0s")
    .describe(
      "Time for which new requests are still accepted during shutdown, while /ready is 503.",
    ),
  idle_timeout: duration(1_000).prefault("120s")
    .describe(
      "Time after which a client connection without a request in flight is closed, at least 1s. On Linux.",
    ),
  body_timeout: duration(1).prefault("30s")
    .describe(
      "Time in which a request body or an unfinished WebSocket message must bring 32 KiB more or be complete; a body that does not is 408, and its connection is closed.",
    ),
  write_timeout: duration(1_000).prefault("60s")
    .describe(
      "Time after which a client that takes less than 1 kB a second of what waits for it is disconnected, at least 1s; over HTTP/2 one that takes no further piece of a response.",
    ),
  ping_interval: duration(0).prefault("15s")
    .describe(
      "Time without a write after which a stream gets a sign of life: a comment, a ping, or response.in_progress; 0s for none.",
    ),
  max_json_members: integer(1).prefault(200_000)
    .describe(
      "Maximum number of members and elements of a JSON request, over all levels; more is 413. Of more than 50,000 about a third may have keys of their own.",
    ),
  max_concurrent_requests: integer(1).prefault(1_000)
    .describe(
      "Maximum number of concurrent requests below /v1/; further ones are 503 with Retry-After.",
    ),
  max_body_memory: integer(1).prefault(MAX_BODY_MEMORY_BYTES)
    .describe(
      "Maximum number of bytes of request bodies and of the stored items and reasoning that requests name, of unfinished messages, dialogues and unread errors of WebSockets, " +
        "and of text captured for data sharing; beyond it 503 with Retry-After, and the largest of what belongs to no request is dropped first.",
    ),
  max_sockets_per_client: integer(1).prefault(256)
    .describe(
      "Maximum number of open WebSockets for each client key, or for each client address without keys; further " +
        "ones are 429.",
    ),
  max_response_memory: integer(1).prefault(MAX_BODY_MEMORY_BYTES)
    .describe(
      "Maximum number of bytes of responses that are read, translated or not taken by their clients; beyond it new requests are 503 " +
        "with Retry-After, and the largest response that still arrives ends.",
    ),
  max_upload: integer(1).prefault(MAX_UPLOAD_BYTES)
    .describe(
      "Maximum number of bytes of a multipart request, such as a file or audio; more is 413.",
    ),
  http2: flag().prefault(false)
    .describe(
      "Accept clients that begin with HTTP/2. What they send besides requests has no bound, so only behind a proxy that you trust. " +
        "On Linux only: other systems accept them in any case.",
    ),
  allowed_hosts: z.array(hostName).default([])
    .describe(
      "Further accepted Host names besides IP addresses, localhost, server.host and the " +
        "machine's name. Checked if no client keys are required, and always for /metrics.",
    ),
  allowed_origins: z.array(webOrigin).default([])
    .describe("Web origins whose pages may call; * matches any part of a host, or every origin."),
});

const logging = section({
  level: z.enum(["debug", "info", "warn", "error"]).default("info")
    .describe("Minimum level of log lines."),
  format: z.enum(["console", "json"]).default("console").describe("Format of log lines."),
});

const rateLimiting = section({
  enabled: flag().prefault(false).describe("Enable rate limits."),
  requests_per_minute: integer(1).prefault(60)
    .describe(
      "Sustained requests per minute for each client key, or for each client address without keys.",
    ),
  burst_size: integer(1).prefault(10).describe("Maximum number of requests in one burst."),
});

const retry = section({
  enabled: flag().prefault(true).describe("Retry failed attempts."),
  max_attempts: integer(1, 10).prefault(3)
    .describe("Maximum number of attempts per target, including the first."),
  initial_delay: duration(0).prefault("1s").describe("Delay before the first retry."),
  max_delay: duration(0).prefault("30s").describe(
    "Maximum delay before a retry; a longer Retry-After of the upstream ends the retries.",
  ),
  multiplier: decimal(1).prefault(2).describe(
    "Factor by which each delay is longer than the previous one.",
  ),
  jitter_factor: decimal(0, 1).prefault(0.2).describe(
    "Random variation of each delay: 0.2 means plus or minus 10 %.",
  ),
  retryable_errors: z.array(integer(400, 599)).prefault([429, 500, 502, 503, 504, 529])
    .describe("Upstream statuses that are retried."),
});

const circuitBreaker = section({
  enabled: flag().prefault(true).describe("Stop calling an upstream that keeps failing."),
  failure_threshold: integer(1).prefault(5)
    .describe("Consecutive failures that open the circuit breaker."),
  window: duration(1).prefault("60s").describe("Time within which those failures must happen."),
  open_duration: duration(1).prefault("30s").describe(
    "Time for which the circuit breaker stays open.",
  ),
  half_open_max_requests: integer(1).prefault(3)
    .describe("Trial requests when half-open; as many successes close the circuit breaker."),
});

/** The default of `caching.max_entry_bytes`. */
const DEFAULT_MAX_ENTRY_BYTES = 16 * 1024 * 1024;

/** The default of `caching.max_bytes`. */
export const MAX_CACHE_BYTES = 64 * 1024 * 1024;

const caching = section({
  enabled: flag().prefault(false).describe("Cache responses for identical requests."),
  ttl: duration(1).prefault("1h").describe("Lifetime of a cached response."),
  max_size: integer(0).prefault(1000).describe(
    "Maximum number of cached responses; 0 caches none.",
  ),
  max_entry_bytes: integer(1).prefault(DEFAULT_MAX_ENTRY_BYTES)
    .describe(
      "Maximum size of one cached response and its key; at most max_bytes, which also caps the default.",
    ),
  max_bytes: integer(1).prefault(MAX_CACHE_BYTES)
    .describe("Maximum size of all cached responses and their keys."),
  per_key: flag().prefault(false)
    .describe("Give each client key its own cached responses."),
  shared: flag().prefault(false)
    .describe("Store cached responses in the state store, so that replicas share them."),
});

const price = section({
  input: decimal(0).optional().describe("Input tokens, without cached ones."),
  output: decimal(0).optional().describe("Output tokens, including reasoning tokens."),
  cached_input: decimal(0).optional()
    .describe("Input tokens read from the provider's cache; default: the input price."),
  cache_write: decimal(0).optional()
    .describe("Input tokens written to the provider's cache; default: the input price."),
  per_image: decimal(0).optional()
    .describe("USD for one image of a response that reports no tokens."),
  per_minute: decimal(0).optional()
    .describe("USD for one minute of audio, if the response reports its length but no tokens."),
  per_million_characters: decimal(0).optional()
    .describe(
      "USD for a million characters of text for speech, if the response reports no tokens.",
    ),
}).superRefine((written, context) => {
  const problem = priceProblem(written);
  if (problem !== null) context.addIssue({ code: "custom", ...problem });
});

/**
 * Returns the problem of a price: both prices of tokens belong together, and a price without them
 * needs one by image, minute or character. Null if it is valid.
 */
function priceProblem(
  written: Readonly<Record<string, unknown>>,
): { readonly message: string; readonly path: string[] } | null {
  const has = (key: string) => written[key] !== undefined;
  const isOther = ["per_image", "per_minute", "per_million_characters"].some(has);
  const message = "is required";
  for (const [key, other] of [["input", "output"], ["output", "input"]] as const) {
    if (!has(key) && (has(other) || !isOther)) return { message, path: [key] };
  }
  return null;
}

/** Pattern of a provider ID, a slash and any model name. */
const PRICED_MODEL = /^[A-Za-z0-9][A-Za-z0-9._-]*\/./;

const pricing = z.record(
  z.string().regex(PRICED_MODEL, { error: "must be <provider>/<model>" }),
  price,
);

const telemetry = section({
  service_name: text().default("switchyard")
    .describe("Service name of exported spans; OTEL_SERVICE_NAME overrides it."),
  protocol: z.enum(["auto", "http/json", "http/protobuf"]).default("auto").describe(
    "Encoding of spans; auto is that of OTEL_EXPORTER_OTLP_PROTOCOL, else http/json.",
  ),
  propagate: z.array(text()).default([]).describe(
    "IDs of providers that receive a traceparent header with the span of their attempt, while spans are exported.",
  ),
  provider_names: z.record(z.string(), text()).default({}).describe(
    "gen_ai.provider.name by provider ID, where it is not known from the host.",
  ),
});

const observability = section({
  key_labels: z.array(labelName()).max(MAX_REPORTED_LABELS).default([]).describe(
    "Names of labels of client keys that log lines and metrics have, as key_NAME; at most 8.",
  ),
});

/**
 * Context in which the schema checks a file. The library would otherwise generate code for each
 * object of the schema, which takes a tenth of the start, for a file that is read once. Issues have
 * an empty message where the schema has no own one.
 */
export const READ_ONCE = { jitless: true, error: () => "" } as const;

/** Schema of the configuration file. It does not contain rules between keys. */
export const configSchema = section({
  server: server.prefault({}).describe(
    "Listener, shutdown and request limits. Changes need a restart.",
  ),
  logging: logging.prefault({}).describe("Log output."),
  providers: z.record(
    z.string().regex(PROVIDER_ID, {
      error:
        "must be an ID of letters, digits, dots, underscores and hyphens that begins with a letter or digit",
    }),
    providerSchema,
  ).describe("Upstream accounts by provider ID; at least one."),
  models: modelsSchema.prefault({}).describe(
    "Named models: a name that clients request, with its targets and what is added to requests; at most 200.",
  ),
  routing: routingSchema.describe("Routes of requests to providers."),
  security: securitySchema.prefault({}).describe("Client authentication."),
  privacy: privacySchema.prefault({}).describe(
    "Rules for values that must not reach providers; they hold for nobody without default or a selection.",
  ),
  rate_limiting: rateLimiting.prefault({}).describe("Rate limits of clients."),
  retry: retry.prefault({}).describe("Retries of failed attempts."),
  circuit_breaker: circuitBreaker.prefault({})
    .describe(
      "Circuit breaker, one for each model of a provider account, and one for its connections.",
    ),
  caching: caching.prefault({}).describe("Response cache."),
  state: stateSchema.prefault({})
    .describe("Storage of responses, conversations, owners and quotas. Applied at start."),
  record: recordSchema.prefault({}).describe(
    "Recorded calls, encrypted in a file. enabled and path are applied at start.",
  ),
  pricing: pricing.prefault({})
    .describe(
      "Prices in USD by <provider>/<model>, of tokens per million; they override the built-in prices.",
    ),
  telemetry: telemetry.prefault({})
    .describe("OpenTelemetry spans; exported if OTEL_EXPORTER_OTLP_ENDPOINT is set."),
  observability: observability.prefault({}).describe(
    "Contents of log lines and metrics. Changes need a restart.",
  ),
  admin: adminSchema.prefault({}).describe(
    "Admin page on its own listener. Changes need a restart.",
  ),
  general: generalSchema.prefault({}).describe("Identity of this gateway at the remote dashboard."),
  data_sharing: dataSharingSchema.prefault({}).describe("Export to the remote dashboard."),
  update_check: updateCheckSchema.prefault({})
    .describe("Release check."),
});

type Frozen<T> = T extends readonly (infer Item)[] ? readonly Frozen<Item>[]
  : T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> }
  : T;

/** The configuration after defaults, without the defaults of provider types. */
export type WrittenConfig = z.output<typeof configSchema>;

/** One provider after defaults, without the defaults of its type. */
export type WrittenProvider = z.output<typeof providerSchema>;

/** TLS settings of a provider with the contents of their files. */
export interface ProviderTls {
  /** Certificates of `ca_file` in PEM. */
  readonly ca: string | null;
  /** The client certificate and its key in PEM. */
  readonly identity: { readonly cert: string; readonly key: string } | null;
  readonly serverName: string | null;
}

/** A credential with absolute paths, and with the account of `key_file`. */
export type CredentialConfig = Frozen<
  NonNullable<WrittenProvider["credential"]> & { account?: string }
>;

/** A key of a provider: a value, which is empty with a credential that is replaced. */
export type ProviderKey =
  & Omit<NonNullable<WrittenProvider["api_keys"]>[number], "value" | "credential">
  & { value: string; credential?: CredentialConfig };

/** Value of `providers.*.type`. */
export type ProviderType = (typeof PROVIDER_TYPES)[number];

/**
 * One provider after all defaults, without the keys that its type does not use. Durations in
 * milliseconds; an empty key or organization is absent.
 */
export type ProviderConfig = Frozen<
  Omit<
    WrittenProvider,
    | "type"
    | "base_url"
    | "api_key"
    | "api_keys"
    | "normalize_developer_role"
    | "tls"
    | "credential"
    | "capabilities"
  > & {
    type: ProviderType;
    /** Absolute http or https URL, configured or built in; may end with a slash or have a query. */
    base_url: string;
    /**
     * The keys of `api_keys`; or `api_key` or `credential`, with the name `default`; empty without
     * a credential.
     */
    api_keys: ProviderKey[];
    normalize_developer_role: boolean;
    capabilities: Omit<WrittenProvider["capabilities"], "relay"> & { relay: RelayFamily[] };
    /** TLS settings with the contents of their files. */
    tls?: ProviderTls;
  }
>;

/**
 * A valid, complete and frozen configuration. Keys have the names of the file; durations are
 * milliseconds.
 */
export type Config = Frozen<
  Omit<WrittenConfig, "providers"> & { providers: Record<string, ProviderConfig> }
>;

/** One route of the configuration; `match.path` is a literal prefix, empty for any path. */
export type RouteConfig = Config["routing"]["routes"][number];

/** One named model of the configuration. */
export type NamedModelConfig = Config["models"][string];

/** The members that a route and a named model share. */
export type RouteBody = Pick<RouteConfig, keyof RouteConfig & keyof NamedModelConfig>;

/** Returns the bodies of all routes: of named models, then of `routing.routes`. */
export function routeBodies(
  { models, routing }: Pick<Config, "models" | "routing">,
): readonly RouteBody[] {
  return [...Object.values(models), ...routing.routes];
}

/** One client key of the configuration. */
export type ClientKeyConfig = Config["security"]["api_key"]["keys"][number];

/** One group of client keys of the configuration. */
export type GroupConfig = Config["security"]["groups"][number];

/** One template of the configuration. */
export type TemplateConfig = Config["security"]["templates"][number];

/** One budget of a key or a group. */
export type BudgetConfig = ClientKeyConfig["budgets"][number];
