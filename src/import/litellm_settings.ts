import { type Absent, reportAbsent } from "./absent.ts";
import { type Draft, setFrom } from "./draft.ts";
import { seconds } from "./litellm_timeouts.ts";
import { readRedis } from "./litellm_redis.ts";
import { itemsOf, memberOf, numberOf, textOf, type Tree, truthOf } from "./source.ts";

const SETTINGS_MISSING: Absent = {
  guardrails: "there are no guardrails",
  post_call_rules: "Python code is not run",
  pre_call_rules: "Python code is not run",
  model_alias_map: "use named models",
  upperbound_key_generate_params: "keys are written in the file",
  default_team_settings: "keys and groups are written in the file",
  default_internal_user_params: "there are no users",
  enable_preview_features: "there are no previews",
  ssl_verify: "certificates are always verified; tls.ca_file adds an authority",
  ssl_certificate: "client certificates are at the provider: tls.cert_file",
  headers: "headers are at the provider",
  api_base: "addresses are at the provider",
  default_in_memory_ttl: "caching.ttl is ours",
  tag_budget_config: "budgets belong to client keys",
  cache_control_injection_points: "cache_breakpoints of a provider adds them",
};

const SETTINGS_NO_MEANING: Absent = {
  set_verbose: "its debug output; logging.level is ours",
  telemetry: "LiteLLM's reports to its makers",
  turn_off_message_logging: "our logs have no messages",
  redact_messages_in_exceptions: "our logs have no messages",
  redact_user_api_key_info: "our logs have no keys",
  suppress_debug_info: "its debug output",
  log_raw_request_response: "its debug output",
  detailed_debug: "its debug output; logging.level is ours",
  enable_json_schema_validation: "how LiteLLM checks responses",
  return_response_headers: "headers of the provider are passed on",
  include_cost_in_streaming_usage: "cost is in metrics and in the usage of keys",
  force_ipv4: "how LiteLLM connects",
};

/** Sections that nothing reads. */
export const OTHER_SECTIONS: Absent = {
  environment_variables: "set these variables for the gateway itself, or write them to .env",
  mcp_servers: "no servers of tools",
  mcp_tools: "no servers of tools",
  include: "other files are not read: import each, or join them",
  guardrails: "there are no guardrails",
  files_settings: "files go to a provider with capabilities.relay",
  finetune_settings: "not served",
  vector_store_registry: "not served",
  search_tools: "not served",
  prompts: "named models have instructions: system",
  callback_settings: "no such callbacks here",
  assistant_settings: "not served",
};

/** Reads `litellm_settings`; `refusing` names the providers that refuse fields. */
export function readSettings(tree: Tree | undefined, refusing: string, draft: Draft): void {
  const { report } = draft;
  readCache(tree, draft);
  for (const key of ["callbacks", "success_callback", "failure_callback", "service_callback"]) {
    for (const item of itemsOf(memberOf(tree, key))) readCallback(item, draft);
  }
  const json = memberOf(tree, "json_logs");
  if (truthOf(json) !== null) {
    if (truthOf(json)) setFrom(draft, json, "logging", "format", "json");
    report.carried(json, truthOf(json) ? "logging.format" : []);
  }
  const drop = memberOf(tree, "drop_params");
  if (truthOf(drop) === false) report.carried(drop, [], "fields are never dropped");
  if (truthOf(memberOf(tree, "modify_params")) === false) {
    report.carried(memberOf(tree, "modify_params"), [], "requests are not changed");
  }
  const refused =
    "on purpose: a field that a provider cannot take is refused by name, or named in " +
    `X-Gateway-Lossy${refusing}`;
  report.missing(drop, refused);
  report.missing(memberOf(tree, "modify_params"), refused);
  reportAbsent(tree, report, SETTINGS_MISSING, SETTINGS_NO_MEANING);
  report.notRead(tree, ["num_retries", "request_timeout", "allowed_fails", "cache", "json_logs"]);
}

/** The kinds of calls of LiteLLM's proxy that are chats, and those that are cached here. */
const CHATS = "acompletion";
const CACHED = [CHATS, "aembedding"];

function readCache(tree: Tree | undefined, draft: Draft): void {
  const { report } = draft;
  const cache = memberOf(tree, "cache");
  const params = memberOf(tree, "cache_params");
  const isOn = truthOf(cache) === true;
  const type = textOf(memberOf(params, "type")) ?? "redis";
  if (cache === undefined && params === undefined) return;
  if (!isOn) {
    report.say(cache, truthOf(cache) === null ? "missing" : "carried");
    for (
      const key of [
        "type",
        "ttl",
        "host",
        "port",
        "ssl",
        "username",
        "password",
        "url",
        "db",
        "namespace",
        "mode",
        "supported_call_types",
      ]
    ) {
      report.noMeaning(memberOf(params, key), "the cache is off");
    }
    return;
  }
  const mode = memberOf(params, "mode");
  const isForAll = textOf(mode) !== "default_off";
  const calls = memberOf(params, "supported_call_types");
  const isForChats = calls === undefined || itemsOf(calls).some((one) => textOf(one) === CHATS);
  if (!isForAll || !isForChats || type !== "local" && type !== "redis") {
    const note = !isForAll
      ? "the cache is for every request here, not only for those that ask for it"
      : isForChats
      ? "only identical requests are cached, in memory or at a Redis server"
      : "the cache is for chats too here";
    for (const tree of [cache, params]) report.missing(tree, note);
    return;
  }
  setFrom(draft, cache, "caching", "enabled", true);
  if (textOf(mode) === "default_on") report.carried(mode, "caching.enabled");
  const ttl = memberOf(params, "ttl");
  const time = numberOf(ttl);
  if (time !== null && time > 0) {
    setFrom(draft, ttl, "caching", "ttl", seconds(time));
    report.carried(ttl, "caching.ttl");
  }
  const isShared = type === "redis" &&
    readRedis(params, draft, "");
  if (isShared) setFrom(draft, params, "caching", "shared", true);
  const isElsewhere = type === "redis" && !isShared;
  const note = isElsewhere ? "; in memory: the file names no host of a Redis server" : "";
  const cached = itemsOf(calls).filter((one) => CACHED.includes(textOf(one) ?? ""));
  for (const tree of [cache, memberOf(params, "type"), ...cached]) {
    report.differently(tree, "caching", `for chats without a stream, and embeddings${note}`);
  }
  report.missing(params, "no setting of the cache here");
}

/** Note about a service that takes spans with its keys alone. */
const LANGFUSE =
  "spans are exported if OTEL_EXPORTER_OTLP_ENDPOINT is set to its address for OpenTelemetry, and " +
  "OTEL_EXPORTER_OTLP_HEADERS to the authorization with its keys";

/** Callbacks that another means replaces. */
const CALLBACKS: Readonly<Record<string, string>> = {
  prometheus: "/metrics has metrics with other names",
  otel: "spans are exported if OTEL_EXPORTER_OTLP_ENDPOINT is set",
  arize_phoenix: "spans are exported if OTEL_EXPORTER_OTLP_ENDPOINT is set to its address, and " +
    "OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf: it takes no JSON",
  langfuse: LANGFUSE,
  langfuse_otel: LANGFUSE,
};

function readCallback(tree: Tree, { report }: Draft): void {
  const name = textOf(tree) ?? "";
  const note = Object.hasOwn(CALLBACKS, name) ? CALLBACKS[name] : undefined;
  if (note !== undefined) return report.differently(tree, [], note);
  report.missing(tree, name.includes(".") ? "Python code is not run" : "no such callback here");
}
