import { assert, assertEquals } from "../support/assert.ts";
import { configOf, routingOver, withProvider } from "./parse.ts";

const PROVIDER = {
  api_keys: [],
  key_rest: 60_000,
  key_affinity: "none",
  prompt_cache_key: "pass",
  cache_breakpoints: "none",
  timeout: 120_000,
  timeout_mode: "ttft",
  system_messages: "in_place",
  connect_timeout: 10_000,
  keep_alive: 4_000,
  stream_idle_timeout: 300_000,
  max_queued: 0,
  queue_timeout: 30_000,
  extract_reasoning_tags: false,
  verify: true,
  headers: {},
  extra: {},
  models: { mode: "translator", static: [], fetch: { ttl: 600_000 } },
  capabilities: {
    chat_completions_lifecycle: false,
    responses_lifecycle: false,
    conversations: false,
    background_responses: false,
    response_cancellation: false,
    response_compaction: false,
    response_input_tokens: false,
    hosted_tools: [],
    structured_outputs: false,
    reasoning_effort: false,
    reasoning_effort_levels: [],
    adaptive_thinking: false,
    custom_tools: false,
    embeddings_base64: false,
    relay: [],
  },
  normalize_developer_role: false,
  pass_headers: [],
} as const;

/** The relayed endpoints of the provider openai with its built-in address. */
const ALL_RELAYED = [
  ...["completions", "moderations", "images", "audio", "files", "batches", "rerank"],
];

Deno.test("everything but providers and routes has a default", () => {
  assertEquals<unknown>(configOf(`providers: {openai: {}}\n${routingOver("openai")}`), {
    models: {},
    server: {
      host: "127.0.0.1",
      port: 8080,
      workers: 1,
      drain_timeout: 30_000,
      drain_delay: 0,
      idle_timeout: 120_000,
      body_timeout: 30_000,
      write_timeout: 60_000,
      ping_interval: 15_000,
      max_json_members: 200_000,
      max_concurrent_requests: 1_000,
      max_body_memory: 268_435_456,
      max_response_memory: 268_435_456,
      max_sockets_per_client: 256,
      max_upload: 71_303_168,
      http2: false,
      allowed_hosts: [],
      allowed_origins: [],
    },
    security: {
      enabled: false,
      provider: "api_key",
      api_key: { header: "Authorization", prefix: "Bearer", allow_x_api_key: true, keys: [] },
      groups: [],
      templates: [],
      jwt: { issuers: [] },
      time_zone: "UTC",
      isolate_clients: true,
    },
    record: {
      enabled: false,
      path: "record.db",
      calls: "none",
      keep: 604_800_000,
      max_bytes: 1_073_741_824,
      policy: "credentials",
    },
    rate_limiting: { enabled: false, requests_per_minute: 60, burst_size: 10 },
    logging: { level: "info", format: "console" },
    providers: {
      openai: {
        ...PROVIDER,
        type: "compat",
        base_url: "https://api.openai.com/v1",
        capabilities: { ...PROVIDER.capabilities, relay: ALL_RELAYED },
      },
    },
    routing: {
      default_strategy: "weighted",
      sessions: "agents",
      routes: [{
        name: "all",
        match: { path: "", headers: {}, labels: {} },
        targets: [{ provider: "openai", weight: 1, upstream_request_type: "chat_completions" }],
        fallback: [],
        fallback_on: ["outage", "context_length"],
        omit_tools: [],
        hold_bytes: 1_048_576,
      }],
    },
    retry: {
      enabled: true,
      max_attempts: 3,
      initial_delay: 1_000,
      max_delay: 30_000,
      multiplier: 2,
      jitter_factor: 0.2,
      retryable_errors: [429, 500, 502, 503, 504, 529],
    },
    circuit_breaker: {
      enabled: true,
      failure_threshold: 5,
      window: 60_000,
      open_duration: 30_000,
      half_open_max_requests: 3,
    },
    admin: { enabled: false, host: "127.0.0.1", port: 8081 },
    caching: {
      enabled: false,
      ttl: 3_600_000,
      max_size: 1000,
      max_entry_bytes: 16_777_216,
      max_bytes: 67_108_864,
      per_key: false,
      shared: false,
    },
    state: {
      store: "memory",
      ttl: 1_800_000,
      owner_ttl: 30 * 24 * 3_600_000,
      max_entries: 1_000,
      max_bytes: 67_108_864,
      max_items: 10_000,
      on_outage: "serve",
      required: false,
      usage_days: 35,
      encryption_keys: [],
      sqlite: { path: "switchyard.db", synchronous: "full" },
      valkey: {
        url: "valkey://127.0.0.1:6379/0",
        prefix: "switchyard",
        sentinels: [],
        cluster: false,
        timeout: 500,
      },
    },
    pricing: {},
    privacy: { rules: [], policies: [], max_search_time: 2_000 },
    telemetry: {
      service_name: "switchyard",
      protocol: "auto",
      propagate: [],
      provider_names: {},
    },
    observability: { key_labels: [] },
    general: {},
    data_sharing: {
      enabled: false,
      share_prompts: false,
      share_responses: false,
      remote_control: false,
    },
    update_check: { enabled: true, interval: 86_400_000, timeout: 3_000 },
  });
});

Deno.test("type and address follow from a built-in ID", () => {
  const { providers } = configOf(
    `providers: {anthropic: {}, ollama: {}}\n${routingOver("ollama")}`,
  );
  assertEquals<unknown>(providers, {
    anthropic: {
      ...PROVIDER,
      type: "messages",
      base_url: "https://api.anthropic.com",
      api_version: "2023-06-01",
    },
    ollama: { ...PROVIDER, type: "local", base_url: "http://127.0.0.1:11434" },
  });
});

Deno.test("an explicit type overrides the type of a built-in ID", () => {
  const explicit = configOf(withProvider("openai", "type: messages")).providers["openai"];
  assertEquals(explicit?.type, "messages");
  assertEquals(explicit?.base_url, "https://api.anthropic.com");
});

Deno.test("a messages provider under any ID knows its address", () => {
  const mine = configOf(withProvider("mine", "type: messages")).providers["mine"];
  assertEquals(mine?.base_url, "https://api.anthropic.com");
});

Deno.test("the deepseek profile turns developer messages into system messages by default", () => {
  const profile = "compatibility_profile: deepseek";
  const on = configOf(withProvider("openai", profile)).providers["openai"];
  assertEquals(on?.normalize_developer_role, true);
  const off = configOf(withProvider("openai", profile, "normalize_developer_role: false"));
  assertEquals(off.providers["openai"]?.normalize_developer_role, false);
});

Deno.test("timeout_mode last_byte means total", () => {
  for (const [word, mode] of [["last_byte", "total"], ["total", "total"], ["ttft", "ttft"]]) {
    const config = configOf(withProvider("openai", `timeout_mode: ${word}`));
    assertEquals<unknown>(config.providers["openai"]?.timeout_mode, mode);
  }
});

Deno.test("effort levels are trimmed, in lower case and listed once", () => {
  const levels = "reasoning_effort_levels: [' High', low, '', high, XHIGH]";
  const config = configOf(withProvider("ollama", "capabilities:", `  ${levels}`));
  const { reasoning_effort_levels } = config.providers["ollama"]?.capabilities ?? {};
  assertEquals(reasoning_effort_levels, ["high", "low", "xhigh"]);
});

Deno.test("an empty api_key or organization is the same as its absence", () => {
  const config = configOf(withProvider("openai", 'api_key: ""', 'organization: ""'));
  const provider = config.providers["openai"] ?? {};
  assert(!("api_key" in provider) && !("organization" in provider));
});

Deno.test("a number in extra is sent with its digits unchanged", () => {
  const messages = configOf(withProvider("anthropic", "extra: {max_tokens: 4096}"));
  assertEquals(messages.providers["anthropic"]?.extra, { max_tokens: "4096" });
  const local = configOf(withProvider("ollama", "extra: {keep_alive: 5m, num_ctx: 1, mmap: true}"));
  assertEquals(local.providers["ollama"]?.extra, { keep_alive: "5m", num_ctx: "1", mmap: "true" });
});

Deno.test("the path of a route is a literal prefix", () => {
  const paths = { "*": "", "/v1/chat/*": "/v1/chat/", "/v1/chat": "/v1/chat", "/*": "/" };
  for (const [written, prefix] of Object.entries(paths)) {
    const config = configOf(
      `providers: {openai: {}}\n${routingOver("openai")}      match: {path: '${written}'}\n`,
    );
    assertEquals(config.routing.routes[0]?.match.path, prefix);
  }
});

Deno.test("a configuration cannot be changed", () => {
  const assertFrozen = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    assert(Object.isFrozen(value));
    Object.values(value).forEach(assertFrozen);
  };
  const text = withProvider("openai", "headers: {X-A: b}", "models: {mode: static, static: [m]}");
  assertFrozen(configOf(text));
});
