import { MAX_BUDGET_USD } from "../config/security_schema.ts";
import type { CalendarPeriod } from "../core/calendar.ts";
import { type Absent, reportAbsent } from "./absent.ts";
import type { Draft } from "./draft.ts";
import { memberOf, membersOf, numberOf, textOf, type Tree } from "./source.ts";

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

/** Returns the line that proposes a store where LiteLLM has a database. */
function proposal({ path }: Tree): string {
  return `${path}: "state: {store: sqlite}" keeps usage and stored responses over a restart.`;
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
  const stored = membersOf(tree).filter(([key]) =>
    /^(?:database_|store_|use_.*db)|spend_logs|_db_/.test(key)
  );
  for (const [, value] of stored) report.missing(value, DATABASE);
  const [first] = stored;
  if (first !== undefined && draft.sections(["state"]).length === 0) {
    draft.remark(proposal(first[1]));
  }
  reportAbsent(tree, report, GENERAL_MISSING, GENERAL_NO_MEANING);
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
