import fc from "fast-check";
import { checkImported } from "../../src/cli/import.ts";
import { importClaudeCodeRouter } from "../../src/import/claude_code_router.ts";
import type { Importer } from "../../src/import/imported.ts";
import { importLitellm } from "../../src/import/litellm.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { placesIn } from "./places.ts";

/** Number of drawn sources of each gateway. */
const SOURCES_COUNT = 200;

const secret = fc.stringMatching(/^[a-f0-9]{24}$/).map((text) => `sk-hidden-${text}`);

/** Any value, whose texts are secrets. */
const hidden = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    secret,
    fc.constantFrom(null, true, 0, 1.5, 7, 600),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "name", "host", "url", "token"), tie("value"), {
      maxKeys: 3,
    }),
  ),
})).value;

const number = fc.constantFrom(0, 1, 3, 0.5, 30, 600, -1, 1e9, "12", "many", null);
const name = fc.constantFrom(
  "fast",
  "smart",
  "openai/gpt-4o",
  "auto",
  "claude-*",
  "*",
  "a b",
  "ü",
  "é/x",
);
const model = fc.constantFrom(
  ...["openai/gpt-4o", "groq/llama", "ollama/qwen:7b", "anthropic/claude-x", "gpt-4o", "cohere/x"],
  ...["azure/dep", "vertex_ai/gemini-x", "bedrock/anthropic.claude-x-v1:0", "openai/*", "claude-*"],
  ...["hosted_vllm/x", "os.environ/UNSET", "nothing", "azure_ai/claude-x", "a${b", "openai/${X}"],
);
const key = fc.oneof(
  secret,
  fc.constantFrom("os.environ/KEY", "${KEY:-x}", "$KEY", "dummy", null),
  hidden,
);
const address = fc.oneof(
  fc.constantFrom(
    "http://localhost:1",
    "https://a.example.com/v1/chat/completions",
    "os.environ/BASE",
  ),
  secret.map((text) => `https://user:${text}@b.example.com/v1?key=${text}`),
  hidden,
);

/** A mapping with some of these members, and members that no one knows. */
function some(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  const unknown = { unknown_key: hidden, "a strange key": hidden };
  return fc.record({ ...members, ...unknown }, { requiredKeys: [] });
}

const params = some({
  ...{ model, api_key: key, api_base: address, rpm: number, tpm: number, weight: number },
  ...{ order: number, timeout: number, stream_timeout: number, temperature: number, top_p: number },
  ...{ max_tokens: number, stop: fc.oneof(hidden, number).map(() => ["END"]), thinking: hidden },
  extra_headers: fc.record({ Authorization: key, "a b": hidden }, { requiredKeys: [] }),
  extra_body: some({ temperature: number, provider: hidden }),
  ...{
    aws_secret_access_key: secret,
    client_secret: secret,
    vertex_credentials: fc.constant("/a"),
  },
  ...{
    tenant_id: fc.constant("t"),
    client_id: fc.constant("c"),
    max_parallel_requests: fc.constantFrom(1, 9),
  },
  reasoning_effort: fc.constantFrom("low", "high", 3),
  litellm_credential_name: fc.constantFrom("main", "other"),
});
const names = fc.array(name, { maxLength: 3 });
const fallbacks = fc.array(fc.dictionary(name, names, { maxKeys: 2 }), { maxLength: 3 });
const litellm = some({
  model_list: fc.array(
    some({
      model_name: name,
      litellm_params: params,
      model_info: some({
        max_input_tokens: number,
        input_cost_per_token: number,
        output_cost_per_token: number,
        base_model: model,
      }),
    }),
    { maxLength: 6 },
  ),
  credential_list: fc.constant([{
    credential_name: "main",
    credential_values: { api_key: "sk-hidden-0" },
  }]),
  router_settings: some({
    ...{ fallbacks, context_window_fallbacks: fallbacks, content_policy_fallbacks: fallbacks },
    ...{ default_fallbacks: names, num_retries: number, retry_after: number, timeout: number },
    ...{
      allowed_fails: number,
      cooldown_time: number,
      redis_password: key,
      redis_host: fc.constant("r"),
    },
    model_group_alias: fc.dictionary(fc.constantFrom("x", "fast", "b c"), name),
    routing_strategy: fc.constantFrom("least-busy", "other", 3),
    retry_policy: some({ TimeoutErrorRetries: number, BadRequestErrorRetries: number }),
  }),
  litellm_settings: some({
    ...{ fallbacks, num_retries: number, request_timeout: number, max_budget: number },
    ...{ cache: fc.boolean(), drop_params: fc.boolean(), callbacks: hidden, json_logs: hidden },
    cache_params: some({
      type: fc.constantFrom("redis", "local", "s3"),
      ttl: number,
      host: fc.constant("h"),
      password: key,
    }),
    budget_duration: fc.constantFrom("30d", "3d", 7),
  }),
  general_settings: some({
    master_key: key,
    database_url: secret,
    user_header_name: fc.constant("X-User"),
  }),
  environment_variables: hidden,
});

const transformer = some({
  use: fc.array(fc.oneof(fc.constantFrom("deepseek", "Anthropic", "x"), hidden), { maxLength: 3 }),
});
const router = fc.oneof(
  fc.constantFrom("one,m", "two,n", "three", ","),
  fc.array(fc.constantFrom("one,m", "two,n")),
  hidden,
);
const claudeCodeRouter = some({
  Providers: fc.array(
    some({
      name: fc.constantFrom("one", "two", "a b"),
      api_base_url: address,
      api_key: key,
      models: fc.constantFrom(["m"], "m", [], null),
      transformer,
    }),
    { maxLength: 4 },
  ),
  Router: some({ default: router, background: router, think: hidden, longContext: hidden }),
  ...{
    APIKEY: key,
    HOST: fc.constantFrom("0.0.0.0", "127.0.0.1"),
    PORT: number,
    LOG_LEVEL: hidden,
  },
  ...{ API_TIMEOUT_MS: number, PROXY_URL: secret, transformers: hidden },
});

/** Returns the number of values that are no mappings and lists, or empty ones. */
function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const inner = Object.values(value);
  return inner.length === 0 ? 1 : inner.reduce((sum: number, one) => sum + countValues(one), 0);
}

/** Returns every text in a value that is a secret, or the part of an address that is one. */
function secretsIn(value: unknown): readonly string[] {
  return JSON.stringify(value).match(/sk-hidden-[a-f0-9]+/g) ?? [];
}

for (
  const [title, importer, sources] of [
    ["LiteLLM", importLitellm, litellm],
    ["claude-code-router", importClaudeCodeRouter, claudeCodeRouter],
  ] as readonly (readonly [string, Importer, fc.Arbitrary<unknown>])[]
) {
  Deno.test(`any source of ${title} has one line for each value, hides its secrets and passes check`, () => {
    fc.assert(
      fc.property(sources, (source) => {
        const result = importer(JSON.stringify(source, null, 2), {});
        if (!result.ok) return;
        const { file, lines } = result.imported;
        assertEquals(lines.length, countValues(source));
        assertEquals(new Set(lines.map(({ path }) => path)).size, lines.length);
        const places = placesIn(file ?? "{}");
        for (const { path, to } of file === null ? [] : lines) {
          for (const place of to) assert(places.has(place), `${path}: ${place}`);
        }
        const written = `${file}${JSON.stringify(lines)}`;
        for (const one of secretsIn(source)) assert(!written.includes(one), one);
        for (const { path, status } of lines) {
          if (/unknown_key/.test(path)) assertEquals(status, "missing", path);
          if (/\(key/.test(path)) assert(/missing|no meaning/.test(status), path);
        }
        assertEquals(checkImported(result.imported).problems, []);
      }),
      { numRuns: SOURCES_COUNT },
    );
  });
}
