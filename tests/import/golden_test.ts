import { checkImported } from "../../src/cli/import.ts";
import { PREFIXES } from "../../src/import/litellm_prefixes.ts";
import { leavesOf, parseSourceText } from "../../src/import/source.ts";
import { placesIn } from "./places.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { ENVIRONMENT, goldens, importerOf, resultText } from "./golden.ts";

for (const golden of goldens) {
  Deno.test(`an import has the result and the report of its file: ${golden.name}`, () => {
    const result = importerOf(golden)(golden.source, ENVIRONMENT);
    assertEquals(resultText(result), golden.result);
    assert(result.ok);
    assertEquals(checkImported(result.imported).problems, []);
    // What the report names as a place is one in the file.
    const { file, lines } = result.imported;
    const places = placesIn(file ?? "{}");
    for (const { path, to } of file === null ? [] : lines) {
      for (const place of to) assert(places.has(place), `${path}: ${place}`);
    }
    // No secret of a source is in what is written.
    const secrets = golden.source.match(
      /[\w-]*(?:literal|secret|hunter|password)[\w-]*\d\w*|sk-\w[\w-]{12,}/g,
    );
    for (const secret of secrets ?? []) assert(!golden.result.includes(secret), secret);
    // Each value of a source has one line.
    const form = golden.name.startsWith("ccr_") ? "json" : "yaml";
    const parsed = parseSourceText(golden.source, form);
    assert(parsed.ok);
    const paths = result.imported.lines.map(({ path }) => path);
    assertEquals(
      paths.slice(0, leavesOf(parsed.root).length),
      leavesOf(parsed.root).map(({ path }) => path),
    );
    assertEquals(paths.length, leavesOf(parsed.root).length + parsed.replaced.length);
    assertEquals(new Set(paths).size, paths.length);
  });
}

/** Members of public files of the two gateways, as counted in 49 and 8 of them. */
const WRITTEN = [
  ...["model_list", "litellm_settings", "general_settings", "router_settings", "mcp_servers"],
  ...["fallbacks", "files_settings", "model", "api_key", "api_base", "max_tokens", "timeout"],
  ...["stream_timeout", "extra_body", "thinking", "reasoning_effort", "rpm", "tpm", "order"],
  ...["vertex_project", "vertex_location", "vertex_credentials", "temperature", "top_p"],
  ...["max_retries", "supports_function_calling", "frequency_penalty", "presence_penalty"],
  ...["api_version", "custom_llm_provider", "drop_params", "stream", "aws_region_name"],
  ...["set_verbose", "request_timeout", "cache", "cache_params", "success_callback", "callbacks"],
  ...["failure_callback", "num_retries", "json_logs", "turn_off_message_logging", "telemetry"],
  ...["budget_duration", "modify_params", "context_window_fallbacks", "master_key"],
  ...["database_url", "store_model_in_db", "database_connection_pool_limit", "allow_user_auth"],
  ...["user_header_name", "max_budget", "routing_strategy", "retry_after", "cooldown_time"],
  ...["allowed_fails", "enable_pre_call_checks", "default_model", "retry_policy", "redis_host"],
  ...["simple-shuffle", "latency-based-routing", "least-busy", "usage-based-routing-v2"],
  ...["os.environ/", "${", "model_group_alias", "default_fallbacks", "content_policy_fallbacks"],
  ...["credential_list", "model_info", "max_input_tokens", "input_cost_per_token", "base_model"],
  ...["api_base_url", "transformer", "background", "longContext", "longContextThreshold"],
  ...["think", "webSearch", "APIKEY", "PORT", "HOST", "API_TIMEOUT_MS", "PROXY_URL", "LOG"],
  ...["LOG_LEVEL", "StatusLine", "CUSTOM_ROUTER_PATH", "transformers", "maxtoken", "enhancetool"],
];

Deno.test("the files have every prefix that is served, and every key that public files have", () => {
  const all = goldens.map(({ source }) => source).join("\n");
  assert(goldens.length >= 60);
  assertEquals(WRITTEN.filter((word) => !all.includes(word)), []);
  assertEquals([...PREFIXES.keys()].filter((prefix) => !all.includes(`${prefix}/`)), []);
});

Deno.test("the same source gives the same bytes", () => {
  for (const golden of goldens) {
    const [first, second] = [0, 1].map(() =>
      resultText(importerOf(golden)(golden.source, ENVIRONMENT))
    );
    assertEquals(first, second);
  }
});
