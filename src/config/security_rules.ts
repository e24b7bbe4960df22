import { SESSION_HEADERS } from "../core/session.ts";
import { isObject } from "../core/json/json.ts";
import { parseBoolean } from "./fields.ts";
import { type Path, type Problem, problem } from "./problems.ts";
import type { Config, TemplateConfig } from "./schema.ts";
import { USUAL_KEY_PLACE } from "./security_schema.ts";

const PLACE = ["security", "api_key"] as const;

/** True if clients are known by a key or a token. */
export function identifiesClients(
  { enabled, provider }: Pick<Config["security"], "enabled" | "provider">,
): boolean {
  return enabled && provider !== "none";
}

/** Returns the problems between the keys of `security`. Takes the value before defaults. */
export function securityProblems(security: unknown): Problem[] {
  if (!isObject(security)) return [];
  const { enabled, provider = "api_key", api_key: settings = {} } = security;
  if (!isObject(settings)) return [];
  const isOn = parseBoolean(enabled) === true && provider !== "none";
  return [
    ...headerProblems(settings.header),
    ...prefixProblems(settings.header, settings.prefix),
    ...(isOn ? valueProblems(settings.keys, provider === "jwt") : []),
  ];
}

/**
 * Request headers whose values are sent to providers, log lines or the dashboard; a client key must
 * not be.
 */
const FORWARDED_HEADERS = [
  "x-gateway-provider",
  "x-gateway-model",
  "x-gateway-route",
  ...SESSION_HEADERS.map(([name]): string => name),
  "idempotency-key",
  "compat-beta",
  "messages-beta",
  "anthropic-beta",
  "anthropic-version",
  "accept",
  "range",
  "if-range",
  "traceparent",
  "tracestate",
];

/** True for a header whose values leave the gateway. */
export function isForwardedHeader(header: string): boolean {
  return FORWARDED_HEADERS.includes(header.toLowerCase());
}

function headerProblems(header: unknown): Problem[] {
  if (typeof header !== "string" || !isForwardedHeader(header)) return [];
  const text = "must not be a header that is forwarded, because the keys would be forwarded too";
  return [problem([...PLACE, "header"], text)];
}

/** An empty prefix would accept any other authorization scheme as a key. */
function prefixProblems(header: unknown = USUAL_KEY_PLACE.header, prefix: unknown): Problem[] {
  if (prefix !== "" || typeof header !== "string") return [];
  const { header: usual } = USUAL_KEY_PLACE;
  if (header.toLowerCase() !== usual.toLowerCase()) return [];
  return [problem([...PLACE, "prefix"], `must not be empty while header is ${usual}`)];
}

/** Without keys every request is refused; a blank key is mostly a variable that is not set. */
function valueProblems(keys: unknown = [], hasTokens: boolean): Problem[] {
  if (!Array.isArray(keys)) return [];
  if (keys.length === 0 && !hasTokens) {
    const text = "must contain at least one key while security.enabled is true";
    return [problem([...PLACE, "keys"], text)];
  }
  return keys.flatMap((key, index): Problem[] => {
    if (!isObject(key)) return [];
    const previous = Array.isArray(key.previous) ? key.previous : [];
    return [
      ...blankProblem(key, [...PLACE, "keys", index]),
      ...previous.flatMap((one, place) =>
        blankProblem(one, [...PLACE, "keys", index, "previous", place])
      ),
    ];
  });
}

function blankProblem(secret: unknown, path: Path): Problem[] {
  if (!isObject(secret) || typeof secret.value !== "string" || secret.value.trim() !== "") {
    return [];
  }
  return [problem([...path, "value"], "must not be blank while security.enabled is true")];
}

/** Returns a warning for each valid setting that is likely a mistake. */
export function securityWarnings({ security, rate_limiting }: Config): Problem[] {
  const { enabled, provider, api_key, templates, jwt } = security;
  if (!enabled) return [];
  if (provider === "none") {
    const text = "is none, so no key is required although security.enabled is true";
    return [problem(["security", "provider"], text)];
  }
  const issuers = provider === "jwt" || jwt.issuers.length === 0 ? [] : [
    problem(
      ["security", "jwt", "issuers"],
      "have no effect while security.provider is api_key, so their tokens are refused",
    ),
  ];
  if (rate_limiting.enabled) return issuers;
  const isSet = ({ requests_per_minute: rate }: Pick<TemplateConfig, "requests_per_minute">) =>
    rate !== undefined;
  const fromTemplate = new Set(templates.filter(isSet).map(({ name }) => name));
  const own = api_key.keys.map((key, index) => ({ key, path: [...PLACE, "keys", index] }))
    .filter(({ key }) => !fromTemplate.has(key.template ?? ""));
  const shared = templates.map((key, index) => ({ key, path: ["security", "templates", index] }));
  return [
    ...issuers,
    ...[...own, ...shared].filter(({ key }) => isSet(key)).map(({ path }) =>
      problem(
        [...path, "requests_per_minute"],
        "has no effect while rate_limiting.enabled is false",
      )
    ),
  ];
}
