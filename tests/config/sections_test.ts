import { assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, withSection } from "./parse.ts";

Deno.test("problems in server, logging, retry and circuit_breaker are reported with line and column", () => {
  const cases: Record<string, string> = {
    "server: {host: 'a b'}":
      "server.host: must be an IP address or a host name (line 1, column 16)",
    "server: {port: 65536}": "server.port: must be at most 65535 (line 1, column 16)",
    "server: {port: -1}": "server.port: must be at least 0 (line 1, column 16)",
    "server: {port: 80.5}": "server.port: must be a whole number (line 1, column 16)",
    "server: {port: 1e400}": "server.port: must be a number (line 1, column 16)",
    "server: {port: 0x}": "server.port: must be a number (line 1, column 16)",
    "server: {drain_timeout: 30}":
      "server.drain_timeout: must be a duration with a unit, such as 30s (line 1, column 25)",
    "server: {drain_delay: soon}":
      "server.drain_delay: must be a duration made of h, m, s and ms in this order, such as 30s or 1h30m (line 1, column 23)",
    "server: {body_timeout: 0s}": "server.body_timeout: must be longer than 0s (line 1, column 24)",
    "server: {max_json_members: 0}":
      "server.max_json_members: must be at least 1 (line 1, column 28)",
    "server: {max_concurrent_requests: 0}":
      "server.max_concurrent_requests: must be at least 1 (line 1, column 35)",
    "server: {max_sockets_per_client: 0}":
      "server.max_sockets_per_client: must be at least 1 (line 1, column 34)",
    "server: {max_upload: 64MiB}": "server.max_upload: must be a number (line 1, column 22)",
    "server: {max_upload: 0}": "server.max_upload: must be at least 1 (line 1, column 22)",
    "server: {max_body_memory: 256MiB}":
      "server.max_body_memory: must be a number (line 1, column 27)",
    "server: {idle_timeout: 999ms}":
      "server.idle_timeout: must be at least 1000ms (line 1, column 24)",
    "server: {idle_timeout: 0s}":
      "server.idle_timeout: must be at least 1000ms (line 1, column 24)",
    "server: {idle_timeout: off}":
      "server.idle_timeout: must be a duration made of h, m, s and ms in this order, such as 30s or 1h30m (line 1, column 24)",
    "server: 8080": "server: must be a mapping (line 1, column 9)",
    "server: {host: }":
      "server.host: has no value; add a value or remove the key (line 1, column 16)",
    "logging: {level: loud}":
      "logging.level: must be debug, info, warn or error (line 1, column 18)",
    "logging: {format: xml}": "logging.format: must be console or json (line 1, column 19)",
    "retry: {enabled: maybe}": "retry.enabled: must be true or false (line 1, column 18)",
    "retry: {max_attempts: 0}": "retry.max_attempts: must be at least 1 (line 1, column 23)",
    "retry: {max_attempts: 11}": "retry.max_attempts: must be at most 10 (line 1, column 23)",
    "retry: {initial_delay: 5}":
      "retry.initial_delay: must be a duration with a unit, such as 30s (line 1, column 24)",
    "retry: {max_delay: -1s}":
      "retry.max_delay: must be a duration made of h, m, s and ms in this order, such as 30s or 1h30m (line 1, column 20)",
    "retry: {multiplier: 0.5}": "retry.multiplier: must be at least 1 (line 1, column 21)",
    "retry: {jitter_factor: 1.1}": "retry.jitter_factor: must be at most 1 (line 1, column 24)",
    "retry: {retryable_errors: [399]}":
      "retry.retryable_errors[0]: must be at least 400 (line 1, column 28)",
    "retry: {retryable_errors: [500, 600]}":
      "retry.retryable_errors[1]: must be at most 599 (line 1, column 33)",
    "circuit_breaker: {enabled: 1}":
      "circuit_breaker.enabled: must be true or false (line 1, column 28)",
    "circuit_breaker: {failure_threshold: 0}":
      "circuit_breaker.failure_threshold: must be at least 1 (line 1, column 38)",
    "circuit_breaker: {window: 0s}":
      "circuit_breaker.window: must be longer than 0s (line 1, column 27)",
    "circuit_breaker: {open_duration: 0ms}":
      "circuit_breaker.open_duration: must be longer than 0s (line 1, column 34)",
    "circuit_breaker: {half_open_max_requests: 0}":
      "circuit_breaker.half_open_max_requests: must be at least 1 (line 1, column 43)",
    "cashing: {enabled: true}":
      'cashing: is not a known key; did you mean "caching"? (line 1, column 1)',
  };
  for (const [line, problem] of Object.entries(cases)) {
    assertEquals(problemsOf(withSection(line)), [problem], line);
  }
});

Deno.test("the limits of each number are allowed", () => {
  const config = configOf(withSection(
    "server: {port: 0, host: '::1', body_timeout: 1ms, max_json_members: 1}",
    "retry: {max_attempts: 10, initial_delay: 0s, jitter_factor: 0, retryable_errors: []}",
    "circuit_breaker: {half_open_max_requests: 1, window: 1ms, open_duration: 999999999999999h}",
  ));
  assertEquals([config.server.port, config.server.host], [0, "::1"]);
  assertEquals(config.retry.retryable_errors, []);
  assertEquals(config.circuit_breaker.open_duration, 999_999_999_999_999 * 3_600_000);
});

Deno.test("all problems are reported together, in the order of the file", () => {
  const text = `server: {prot: 1}
retry: {max_attempts: 11}
providers:
  openai: {timeout: 30, top_k: many}
  mine: {type: compat}
  other: {api_key: k}
routing:
  routes:
    - {name: a, targets: [{provider: nobody, weight: 0}]}
    - {name: a, targets: []}
retry: {}
`;
  assertEquals(problemsOf(text), [
    'server.prot: is not a known key; did you mean "port"? (line 1, column 10)',
    "retry.max_attempts: must be at most 10 (line 2, column 23)",
    "providers.openai.timeout: must be a duration with a unit, such as 30s (line 4, column 21)",
    "providers.openai.top_k: must be a number (line 4, column 32)",
    "providers.mine.base_url: is required: no address is known for this ID with type compat (line 5, column 3)",
    "providers.other.type: is required: compat, messages or local (known for openai, anthropic and ollama) (line 6, column 3)",
    "routing.routes[0].targets: must contain at least one target with a weight above 0 (line 9, column 26)",
    "routing.routes[0].targets[0].provider: is not a configured provider (line 9, column 38)",
    "routing.routes[1].name: is already the name of an earlier route (line 10, column 14)",
    "routing.routes[1].targets: must not be empty (line 10, column 26)",
    "retry: is set twice (line 11, column 1)",
  ]);
});
