import { LIFECYCLES } from "../../src/data/hosts.ts";
import { RELAY_FAMILIES } from "../../src/core/endpoint.ts";

/** The client keys of the soak. */
export const KEYS: readonly string[] = [
  "gk-soak-one-0123456789abcdef",
  "gk-soak-two-0123456789abcdef",
];

/** Maximum number of stored objects of each type. */
export const MAX_ENTRIES_COUNT = 50;

/** The provider types that translate or relay a request for a model. */
export const TYPES = ["compat", "messages", "local"] as const;
/** A provider type of the soak; also the ID of its provider. */
export type ProviderType = typeof TYPES[number];

const PATHS: Readonly<Record<ProviderType, string>> = {
  compat: "/compat/v1",
  messages: "/messages",
  local: "/local",
};

const NATIVE = {
  ...LIFECYCLES,
  embeddings_base64: true,
  relay: RELAY_FAMILIES,
};

/** Nothing listens on this port of the machine: connections are refused. */
const CLOSED = "http://127.0.0.1:9/v1";

/** Model of the route whose first target refuses connections. It repeats the last message. */
export const FALLBACK_MODEL = "claude-soak";

/** Names of the providers that break, each with its own circuit breaker. */
export function breakingProvider(type: ProviderType): string {
  return `breaking-${type}`;
}

/** Settings that all configurations of a soak share. */
export interface Setting {
  /** The address of the simulator. */
  readonly upstream: string;
  readonly workers: number;
  /** The section `state`, without its bounds. */
  readonly state: Readonly<Record<string, unknown>>;
  /** Time in milliseconds that the gateway waits for a provider that breaks. */
  readonly breakTimeoutMs: number;
}

/** Returns the setting of a gateway in one process with its state in memory. */
export function plainSetting(upstream: string): Setting {
  return { upstream, workers: 1, state: { store: "memory" }, breakTimeoutMs: 1_000 };
}

/**
 * Returns the configuration of the gateway. `version` changes with each reload: values of providers
 * and routes, so that every part is built again.
 */
export function configText(setting: Setting, version: number): string {
  const { upstream, workers, state, breakTimeoutMs } = setting;
  const provider = (type: ProviderType, more: object = {}) => ({
    type,
    base_url: `${upstream}${PATHS[type]}`,
    api_key: "any",
    default_model: "sim-echo",
    ...more,
  });
  const breakTimeout = `${breakTimeoutMs}ms`;
  const impatient = {
    timeout: breakTimeout,
    timeout_mode: "ttft",
    stream_idle_timeout: breakTimeout,
  };
  const providers = {
    ...Object.fromEntries(TYPES.map((type) => [type, {
      ...provider(type, { models: { mode: "fetch" }, headers: { "x-soak": String(version) } }),
      ...(type === "compat" ? { max_concurrent: 64, max_queued: 64 } : {}),
    }])),
    native: provider("compat", { capabilities: NATIVE, api_key: "sk-native" }),
    refused: { type: "compat", base_url: CLOSED },
    ...Object.fromEntries(
      TYPES.map((type) => [breakingProvider(type), provider(type, impatient)]),
    ),
  };
  const ids = Object.keys(providers);
  const routes = [
    {
      name: "fallback",
      match: { models: [FALLBACK_MODEL] },
      targets: [{ provider: "refused" }],
      fallback: [{ provider: "messages" }],
    },
    {
      name: "native-responses",
      match: { path: "/v1/responses", models: ["native/*"] },
      targets: [{ provider: "native", upstream_request_type: "responses" }],
    },
    ...ids.map((id) => ({
      name: id,
      match: { models: [`${id}/*`] },
      targets: [{ provider: id, weight: 1 + version % 3 }],
    })),
    { name: "all", targets: TYPES.map((id) => ({ provider: id })) },
  ];
  // JSON is valid YAML.
  return JSON.stringify({
    server: { port: 0, drain_timeout: "5s", workers },
    logging: { level: "info", format: "json" },
    providers,
    routing: { default_strategy: version % 2 === 0 ? "round-robin" : "least-pending", routes },
    security: {
      enabled: true,
      api_key: { keys: KEYS.map((value, at) => ({ name: `client-${at}`, value })) },
    },
    rate_limiting: { enabled: true, requests_per_minute: 600_000, burst_size: 10_000 },
    retry: { initial_delay: "10ms", max_delay: "50ms", max_attempts: 2 + version % 2 },
    circuit_breaker: { failure_threshold: 20, window: "10s", open_duration: "1s" },
    // Several workers have one cache, so that each finds what another one has stored.
    caching: { enabled: true, max_size: 50, shared: workers > 1 },
    state: { ...state, max_entries: MAX_ENTRIES_COUNT },
    update_check: { enabled: false },
  });
}

/** A configuration that is refused: the gateway continues with the one it has. */
export const BROKEN_CONFIG = "providers: {compat: {type: none}}";
