import { type Absent, reportAbsent } from "./absent.ts";
import { type Draft, setFrom } from "./draft.ts";
import { seconds } from "./litellm_timeouts.ts";
import { readRedis } from "./litellm_redis.ts";
import { memberOf, membersOf, numberOf, textOf, type Tree, truthOf } from "./source.ts";

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

/** Returns the strategy for that of `router_settings`; undefined if it is not known here. */
export function strategyIn(router: Tree | undefined): string | undefined {
  const written = textOf(memberOf(router, "routing_strategy")) ?? "";
  return Object.hasOwn(STRATEGIES, written) ? STRATEGIES[written] : undefined;
}

/** Reads `router_settings`, and what `litellm_settings` says of cooldowns. */
export function readRouter(
  tree: Tree | undefined,
  settings: Tree | undefined,
  draft: Draft,
): void {
  const { report } = draft;
  const get = (key: string) => memberOf(tree, key);
  const strategy = get("routing_strategy");
  const known = strategyIn(tree);
  if (strategy !== undefined && known !== undefined) {
    if (known !== "weighted") draft.set("routing", "default_strategy", known, strategy.path);
    const isUsage = textOf(strategy)?.startsWith("usage");
    const note = isUsage ? "by running calls, not by tokens of the minute" : "";
    report.noted(strategy, known === "weighted" ? [] : "routing.default_strategy", note);
  } else report.missing(strategy, "a strategy that is not known here");
  readBreaker(tree, settings, draft);
  readRedis(tree, draft, "redis_");
  const delay = numberOf(get("retry_after"));
  if (delay !== null && delay >= 0) {
    setFrom(
      draft,
      get("retry_after"),
      "retry",
      "initial_delay",
      delay === 0 ? "0s" : seconds(delay),
    );
    const isLong = delay > MAX_DELAY_SECONDS;
    if (isLong) setFrom(draft, get("retry_after"), "retry", "max_delay", seconds(delay));
    const note = isLong ? "every delay" : "each further delay is longer";
    report.differently(get("retry_after"), "retry.initial_delay", note);
  }
  reportAbsent(tree, report, ROUTER_MISSING, ROUTER_NO_MEANING);
  const others = ["retry_after", "allowed_fails", "cooldown_time", "disable_cooldowns"];
  report.notRead(tree, [...others, "num_retries", "timeout", "stream_timeout"]);
  report.notRead(tree, ["model_group_alias", "retry_policy"]);
  for (const key of ["redis_host", "redis_port", "redis_db", "redis_password"]) {
    report.missing(get(key), "no host of a server, or a value that is not understood");
  }
}

function readBreaker(tree: Tree | undefined, settings: Tree | undefined, draft: Draft): void {
  const { report } = draft;
  const other = memberOf(settings, "allowed_fails");
  const fails = memberOf(tree, "allowed_fails") ?? other;
  if (fails !== other) report.noMeaning(other, "that of router_settings counts");
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
  report.carried(off, isOff ? "circuit_breaker.enabled" : []);
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
  const isLargest = numberOf(first) === most;
  report.noted(
    first,
    place,
    most > MAX_RETRIES ? "at most 10 attempts" : isLargest ? "" : FOR_ALL_ERRORS,
  );
  for (const tree of others) report.noMeaning(tree, "that of router_settings counts");
  for (const [, tree] of policies) {
    report.differently(tree, place, FOR_ALL_ERRORS);
  }
  report.noMeaning(
    memberOf(memberOf(router, "retry_policy"), "BadRequestErrorRetries"),
    "a refused request is never sent again",
  );
}

const FOR_ALL_ERRORS = "one number for all errors, the largest";

/** Default of `retry.max_delay` in seconds. */
const MAX_DELAY_SECONDS = 30;

/** Maximum number of retries: `retry.max_attempts` counts the first attempt too. */
const MAX_RETRIES = 9;
