import type { CalendarPeriod } from "../core/calendar.ts";
import { MAX_BUDGET_USD } from "../config/security_schema.ts";
import type { Draft } from "./draft.ts";
import { seconds } from "./litellm_entry.ts";
import { FALLBACK_KEYS } from "./litellm_fallbacks.ts";
import { itemsOf, memberOf, membersOf, numberOf, textOf, type Tree, truthOf } from "./source.ts";

/** Reports that a key has no counterpart. */
type Absent = Readonly<Record<string, string>>;

const STRATEGIES: Readonly<Record<string, string>> = {
  "simple-shuffle": "weighted",
  "least-busy": "least-pending",
  "latency-based-routing": "lowest-latency",
  "usage-based-routing": "least-pending",
  "usage-based-routing-v2": "least-pending",
};

/** Settings of the router that nothing here has. */
const ROUTER_MISSING: Absent = {
  default_model: "a request without a known model is refused",
  enable_pre_call_checks: "context_size of targets skips those that are too small after a refusal",
  enable_tag_filtering:
    "requests are not routed by tags; match.labels routes by labels of a client key",
  cache_responses: "responses are cached by caching.enabled",
  cache_kwargs: "caching and state have their own settings",
  caching_groups: "names do not share cached responses",
  model_group_retry_policy: "retries are configured once for all names",
  allowed_fails_policy: "a circuit breaker counts all failures alike",
  provider_budget_config: "budgets belong to client keys",
  optional_pre_call_checks: "there are no checks by plug-ins",
  alerting_config: "alerts are made from metrics",
  fallbacks_with_timeout: "fallbacks have no timeouts of their own",
  routing_strategy_args: "strategies have no arguments",
  max_fallbacks: "the list of fallbacks of a name is written out",
};

const ROUTER_NO_MEANING: Absent = {
  set_verbose: "its debug output; logging.level is ours",
  debug_level: "its debug output; logging.level is ours",
  enable_weighted_failover: "the other targets of a name are always tried",
  client_ttl: "how long LiteLLM keeps its clients",
  polling_interval: "how often LiteLLM looks",
};

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

const GENERAL_MISSING: Absent = {
  allow_user_auth: "there are no users",
  alerting: "alerts are made from metrics",
  alerting_threshold: "alerts are made from metrics",
  alert_types: "alerts are made from metrics",
  alert_to_webhook_url: "alerts are made from metrics",
  allowed_ips: "addresses of clients are filtered in front of the gateway",
  allowed_routes: "client keys name their endpoints: endpoints",
  background_health_checks: "circuit breakers watch the requests",
  custom_auth: "Python code is not run",
  custom_key_generate: "Python code is not run",
  custom_sso: "Python code is not run",
  default_team_disabled: "keys and groups are written in the file",
  enable_jwt_auth: "tokens are accepted with security.provider: jwt",
  enforce_user_param: "end_users.required is nearest",
  forward_client_headers_to_llm_api: "headers of clients are not forwarded",
  forward_llm_provider_auth_headers: "credentials of clients are not forwarded",
  forward_openai_org_id: "headers of clients are not forwarded",
  global_max_parallel_requests: "server.max_concurrent_requests is nearest",
  health_check_interval: "circuit breakers watch the requests",
  infer_model_from_keys: "models are named in the file",
  litellm_jwtauth: "tokens are accepted with security.provider: jwt",
  max_parallel_requests: "client keys have max_concurrent",
  max_request_size_mb: "server.max_upload bounds forms, server.max_body_memory all bodies",
  max_response_size_mb: "server.max_response_memory bounds all responses",
  pass_through_endpoints: "only the endpoints of the reference are relayed",
  proxy_budget_rescheduler_max_time: "budgets are calendar windows",
  proxy_budget_rescheduler_min_time: "budgets are calendar windows",
  use_client_credentials_pass_through_routes: "credentials of clients are not forwarded",
  user_api_key_cache_ttl: "keys are in memory",
  completion_model: "a model that every request gets instead of its own",
  default_model: "a request without a known model is refused",
  key_management_system: "secrets are environment variables, or files of a credential",
  key_management_settings: "secrets are environment variables, or files of a credential",
  ui_access_mode: "the admin page is read only",
};

const GENERAL_NO_MEANING: Absent = {
  disable_spend_logs: "usage of keys is stored by day: state.usage_days",
  disable_master_key_return: "keys are never shown",
  disable_error_logs: "LiteLLM's database",
  disable_adding_master_key_hash_to_db: "LiteLLM's database",
  maximum_spend_logs_retention_period: "usage of keys is stored by day: state.usage_days",
  maximum_spend_logs_retention_interval: "usage of keys is stored by day: state.usage_days",
  ui_username: "the admin page has a password only",
  ui_password: "the admin page has its own password: admin.password",
  disable_reset_budget: "LiteLLM's database",
  allow_requests_on_db_unavailable: "LiteLLM's database",
  supported_db_objects: "LiteLLM's database",
};

const DATABASE =
  "keys, teams and models of the database are not in this file: write them into the new one";

/** Reads `router_settings`. */
export function readRouter(tree: Tree | undefined, draft: Draft): void {
  const { report } = draft;
  const get = (key: string) => memberOf(tree, key);
  const strategy = get("routing_strategy");
  const written = textOf(strategy) ?? "";
  const known = Object.hasOwn(STRATEGIES, written) ? STRATEGIES[written] : undefined;
  if (strategy !== undefined && known !== undefined) {
    if (known !== "weighted") draft.set("routing", "default_strategy", known, strategy.path);
    const isUsage = written.startsWith("usage");
    const note = isUsage ? "by running calls, not by tokens of the minute" : "";
    report.noted(strategy, "routing.default_strategy", note);
  } else report.missing(strategy, "a strategy that is not known here");
  readBreaker(tree, draft);
  readRedis(tree, draft, ["redis_host", "redis_port", "redis_password", "redis_url", "redis_db"]);
  const delay = numberOf(get("retry_after"));
  if (delay !== null && delay >= 0) {
    setFrom(
      draft,
      get("retry_after"),
      "retry",
      "initial_delay",
      delay === 0 ? "0s" : seconds(delay),
    );
    report.differently(get("retry_after"), "retry.initial_delay", "each further delay is longer");
  }
  sayAll(tree, draft, ROUTER_MISSING, ROUTER_NO_MEANING);
  const others = ["retry_after", "allowed_fails", "cooldown_time", "disable_cooldowns"];
  report.notRead(tree, [...others, "num_retries", "timeout", "stream_timeout"]);
}

function readBreaker(tree: Tree | undefined, draft: Draft): void {
  const { report } = draft;
  const fails = memberOf(tree, "allowed_fails");
  const most = numberOf(fails);
  const note = "counts consecutive failures, not failures in a minute";
  if (most !== null && Number.isSafeInteger(most) && most >= 0) {
    setFrom(draft, fails, "circuit_breaker", "failure_threshold", most + 1);
    report.differently(fails, "circuit_breaker.failure_threshold", note);
  }
  const rest = memberOf(tree, "cooldown_time");
  const time = numberOf(rest);
  if (time !== null && time > 0) {
    setFrom(draft, rest, "circuit_breaker", "open_duration", seconds(time));
    report.differently(rest, "circuit_breaker.open_duration", note);
  }
  const off = memberOf(tree, "disable_cooldowns");
  const isOff = truthOf(off);
  if (isOff === null) return;
  if (isOff) setFrom(draft, off, "circuit_breaker", "enabled", false);
  report.carried(off, "circuit_breaker.enabled");
}

/** Reads the address of a Redis server, at which state and limits are then shared. */
function readRedis(
  tree: Tree | undefined,
  draft: Draft,
  [hostKey = "", portKey = "", passwordKey = "", urlKey = "", numberKey = ""]: readonly string[],
): boolean {
  const { report, variables } = draft;
  const host = textOf(memberOf(tree, hostKey));
  const url = textOf(memberOf(tree, urlKey));
  const where = ["state.store", "state.valkey.url"];
  const note = "responses, conversations and limits are at the server too";
  if (host === null) {
    report.missing(
      memberOf(tree, urlKey),
      url === null
        ? ""
        : "an address with a password in it: set state.store: valkey, with state.valkey.url",
    );
    return false;
  }
  const port = textOf(memberOf(tree, portKey)) ?? "6379";
  const number = textOf(memberOf(tree, numberKey)) ?? "0";
  const password = textOf(memberOf(tree, passwordKey));
  const secret = password === null ? null : variables.secret(password, "REDIS_PASSWORD");
  const address = `redis://${variables.text(host, "127.0.0.1")}:${variables.text(port, "6379")}/${
    variables.text(number, "0")
  }`;
  const valkey = { url: address, ...secret?.text != null && { password: secret.text } };
  const from = tree?.path ?? "";
  draft.set("state", "store", "valkey", from);
  draft.set("state", "valkey", valkey, from);
  for (const key of [hostKey, portKey, numberKey]) {
    report.differently(memberOf(tree, key), where, note);
  }
  report.noted(memberOf(tree, passwordKey), "state.valkey.password", secret?.note ?? "");
  return true;
}

/** Reads `num_retries` and `retry_policy` of both sections that can have them. */
export function readRetries(
  router: Tree | undefined,
  settings: Tree | undefined,
  draft: Draft,
): void {
  const { report } = draft;
  const [first, ...others] = [memberOf(router, "num_retries"), memberOf(settings, "num_retries")]
    .filter((tree) => tree !== undefined && numberOf(tree) !== null);
  const policies = membersOf(memberOf(router, "retry_policy"))
    .filter(([name, tree]) =>
      name.endsWith("ErrorRetries") && name !== "BadRequestErrorRetries" && numberOf(tree) !== null
    );
  const most = Math.max(...policies.map(([, tree]) => numberOf(tree) ?? 0), numberOf(first) ?? 0);
  const attempts = Math.min(Math.max(Math.floor(most), 0), MAX_RETRIES) + 1;
  const place = "retry.max_attempts";
  if (first !== undefined || policies.length > 0) {
    draft.set("retry", "max_attempts", attempts, (first ?? policies[0]?.[1])?.path ?? "");
  }
  report.noted(first, place, most > MAX_RETRIES ? "at most 10 attempts" : "");
  for (const tree of others) report.noMeaning(tree, "that of router_settings counts");
  for (const [, tree] of policies) {
    report.differently(tree, place, "one number for all errors, the largest");
  }
  report.noMeaning(
    memberOf(memberOf(router, "retry_policy"), "BadRequestErrorRetries"),
    "a refused request is never sent again",
  );
}

/** Maximum number of retries: `retry.max_attempts` counts the first attempt too. */
const MAX_RETRIES = 9;

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
    report.carried(json, "logging.format");
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
  sayAll(tree, draft, SETTINGS_MISSING, SETTINGS_NO_MEANING);
  report.notRead(tree, ["num_retries", "request_timeout", "cache", "json_logs"]);
}

function readCache(tree: Tree | undefined, draft: Draft): void {
  const { report } = draft;
  const cache = memberOf(tree, "cache");
  const params = memberOf(tree, "cache_params");
  const isOn = truthOf(cache) === true;
  const type = textOf(memberOf(params, "type")) ?? "redis";
  if (cache === undefined && params === undefined) return;
  if (!isOn) {
    report.say(cache, truthOf(cache) === null ? "missing" : "carried", "caching.enabled");
    for (const key of ["type", "ttl", "host", "port", "password", "url", "db", "namespace"]) {
      report.noMeaning(memberOf(params, key), "the cache is off");
    }
    return;
  }
  if (type !== "local" && type !== "redis") {
    report.missing(cache, "only identical requests are cached, in memory or at a Redis server");
    report.missing(params, "only identical requests are cached, in memory or at a Redis server");
    return;
  }
  setFrom(draft, cache, "caching", "enabled", true);
  const ttl = memberOf(params, "ttl");
  const time = numberOf(ttl);
  if (time !== null && time > 0) {
    setFrom(draft, ttl, "caching", "ttl", seconds(time));
    report.carried(ttl, "caching.ttl");
  }
  const isShared = type === "redis" &&
    readRedis(params, draft, ["host", "port", "password", "url", "db"]);
  if (isShared) setFrom(draft, params, "caching", "shared", true);
  const isElsewhere = type === "redis" && !isShared;
  const note = isElsewhere ? "in memory: the file names no host of a Redis server" : "";
  for (const tree of [cache, memberOf(params, "type")]) {
    report.noted(tree, "caching", note);
  }
  report.missing(params, "no setting of the cache here");
}

/** Callbacks that another means replaces. */
const CALLBACKS: Readonly<Record<string, string>> = {
  prometheus: "/metrics has metrics with other names",
  otel: "spans are exported if OTEL_EXPORTER_OTLP_ENDPOINT is set",
  arize_phoenix: "spans are exported if OTEL_EXPORTER_OTLP_ENDPOINT is set to its address",
  langfuse:
    "spans are exported if OTEL_EXPORTER_OTLP_ENDPOINT is set to its address for OpenTelemetry",
  langfuse_otel: "spans are exported if OTEL_EXPORTER_OTLP_ENDPOINT is set to its address",
};

function readCallback(tree: Tree, { report }: Draft): void {
  const name = textOf(tree) ?? "";
  const note = Object.hasOwn(CALLBACKS, name) ? CALLBACKS[name] : undefined;
  const place = name === "prometheus" ? [] : ["telemetry"];
  if (note !== undefined) return report.differently(tree, place, note);
  report.missing(tree, name.includes(".") ? "Python code is not run" : "no such callback here");
}

/** Pattern of keys that a header can carry. */
const CLIENT_KEY = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Reads `general_settings`. Client keys come from the master key alone. */
export function readGeneral(
  tree: Tree | undefined,
  settings: Tree | undefined,
  draft: Draft,
): void {
  const { report, variables } = draft;
  const get = (key: string) => memberOf(tree, key);
  const master = get("master_key");
  const isEmpty = master?.kind === "leaf" && (master.value === null || master.value === "");
  const isKey = CLIENT_KEY.test(textOf(master) ?? "");
  // A gateway with a key there is no gateway without one here.
  const written = isKey ? textOf(master) : "os.environ/MASTER_KEY";
  if (master !== undefined && !isEmpty && written !== null) {
    const user = textOf(get("user_header_name"));
    const endUsers = user !== null && /^[A-Za-z0-9-]+$/.test(user) ? { header: user } : null;
    const { member, text, note } = variables.clientKey(written);
    const key = {
      name: "master",
      [member]: text,
      ...endUsers !== null && { end_users: endUsers },
    };
    const header = textOf(get("litellm_key_header_name"));
    const isHeader = header !== null && /^[A-Za-z0-9-]+$/.test(header);
    draft.set("security", "enabled", true, master.path);
    draft.set("security", "api_key", { ...isHeader && { header }, keys: [key] }, master.path);
    const place = "security.api_key.keys[0]";
    if (!isKey) {
      report.differently(
        master,
        `${place}.value`,
        "no key that a header can carry: set MASTER_KEY",
      );
    }
    report.carried(
      master,
      `${place}.${member}`,
      [note, "a client key like any other"].filter(Boolean).join("; "),
    );
    if (endUsers !== null) report.carried(get("user_header_name"), `${place}.end_users.header`);
    if (isHeader) report.carried(get("litellm_key_header_name"), "security.api_key.header");
    readBudget(settings, draft);
  }
  const needsKey = "needs a client key, and the file has no master_key";
  for (const key of ["user_header_name", "litellm_key_header_name"]) {
    report.missing(get(key), needsKey);
  }
  for (const key of ["max_budget", "budget_duration"]) {
    report.missing(
      memberOf(settings, key),
      "needs a client key, and a duration that is a calendar window",
    );
  }
  for (const [key, value] of membersOf(tree)) {
    if (/^(?:database_|store_|use_.*db)|spend_logs|_db_/.test(key)) report.missing(value, DATABASE);
  }
  sayAll(tree, draft, GENERAL_MISSING, GENERAL_NO_MEANING);
  report.notRead(tree, ["master_key"]);
}

/** Durations of budgets that are calendar windows. */
const PERIODS: Readonly<Record<string, CalendarPeriod>> = {
  "1h": "hour",
  "60m": "hour",
  "24h": "day",
  "1d": "day",
  "7d": "week",
  "1w": "week",
  "30d": "month",
  "1mo": "month",
};

function readBudget(settings: Tree | undefined, draft: Draft): void {
  const { report } = draft;
  const budget = memberOf(settings, "max_budget");
  const duration = memberOf(settings, "budget_duration");
  const usd = numberOf(budget);
  const written = textOf(duration) ?? "";
  const per = Object.hasOwn(PERIODS, written) ? PERIODS[written] : undefined;
  if (
    usd === null || usd <= 0 || usd > MAX_BUDGET_USD || per === undefined || budget === undefined
  ) {
    return;
  }
  const group = { name: "all", keys: ["master"], budgets: [{ per, usd }] };
  draft.set("security", "groups", [group], budget.path);
  const note = "a calendar window; a model without a price in pricing is then refused";
  report.differently(budget, "security.groups[0].budgets[0].usd", note);
  report.differently(duration, "security.groups[0].budgets[0].per", note);
}

/** Reports the members of sections that nothing reads. */
export function readOthers(root: Tree, { report }: Draft): void {
  for (const [key, value] of membersOf(root)) {
    const note = OTHER_SECTIONS[key];
    if (Object.hasOwn(OTHER_SECTIONS, key)) report.missing(value, note ?? "");
  }
}

const OTHER_SECTIONS: Absent = {
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

/** Reports the members of a section by lists of those without a counterpart. */
function sayAll(
  tree: Tree | undefined,
  { report }: Draft,
  missing: Absent,
  noMeaning: Absent,
): void {
  for (const [key, value] of membersOf(tree)) {
    if (FALLBACK_KEYS.some((one) => one === key)) continue;
    if (Object.hasOwn(noMeaning, key)) report.noMeaning(value, noMeaning[key] ?? "");
    if (Object.hasOwn(missing, key)) report.missing(value, missing[key] ?? "");
  }
}

function setFrom(
  draft: Draft,
  tree: Tree | undefined,
  section: string,
  key: string,
  value: string | number | boolean,
): void {
  if (tree !== undefined) draft.set(section, key, value, tree.path);
}
