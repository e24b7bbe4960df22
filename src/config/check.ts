import { isObject, type JsonObject } from "../core/json/json.ts";
import { adminProblems, completeAdmin } from "./admin_rules.ts";
import { cachingProblems, completeCaching } from "./caching_rules.ts";
import { clientKeyProblems } from "./client_key_rules.ts";
import { credentialProblems } from "./credential_rules.ts";
import { issueProblems } from "./issues.ts";
import { modelsProblems } from "./models_rules.ts";
import { outboundProblems } from "./outbound_rules.ts";
import { completeIssuers, jwtProblems } from "./jwt_rules.ts";
import { type Problem, problem } from "./problems.ts";
import { privacyProblems } from "./privacy_rules.ts";
import { completeProvider, providerProblems } from "./provider_rules.ts";
import { recordProblems } from "./record_rules.ts";
import { routingProblems } from "./routing_rules.ts";
import {
  type Config,
  configSchema,
  type ProviderConfig,
  READ_ONCE,
  type WrittenConfig,
} from "./schema.ts";
import { securityProblems } from "./security_rules.ts";
import { completeState, stateProblems } from "./state_rules.ts";
import { completeKeys } from "./templates.ts";
import { NOTHING_OUTSIDE, type Outside, tlsProblems } from "./tls_rules.ts";
import { withoutUnused } from "./unused_keys.ts";
import { workerProblems } from "./worker_rules.ts";

/** Result of a check: a frozen configuration, or all problems of the file together. */
export type Checked =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Checks a plain value against the schema and against the rules between keys. The rules read the
 * value before defaults, so that their problems are reported together with those of the schema.
 * Client keys may also name the providers in `leftOut`.
 */
export function checkTree(
  value: unknown,
  earlier: readonly Problem[],
  outside: Outside = NOTHING_OUTSIDE,
  leftOut: readonly string[] = [],
): Checked {
  if (!isObject(value)) return { ok: false, problems: topProblems(value, earlier) };
  const parsed = configSchema.safeParse(value, READ_ONCE);
  const found = parsed.success ? [] : issueProblems(parsed.error.issues, value);
  const problems = [...earlier];
  const places = new Set(earlier.map(({ path }) => JSON.stringify(path)));
  for (const problem of [...found, ...rules(value, outside, leftOut)]) {
    // Only the first problem of a key is reported: further ones mostly follow from it.
    const place = JSON.stringify(problem.path);
    if (!places.has(place)) problems.push(problem);
    places.add(place);
  }
  if (problems.length > 0 || !parsed.success) return { ok: false, problems };
  const used = withoutUnused(value);
  const written = used === value ? parsed.data : configSchema.parse(used, READ_ONCE);
  return { ok: true, config: freeze(complete(written, outside)) };
}

function rules(
  value: JsonObject,
  outside: Outside,
  leftOut: readonly string[],
): Problem[] {
  const providers = isObject(value.providers) ? Object.keys(value.providers) : [];
  return [
    ...providerProblems(value.providers),
    ...tlsProblems(value.providers, outside),
    ...credentialProblems(value.providers, outside),
    ...routingProblems(value.routing, value.providers),
    ...modelsProblems(value),
    ...securityProblems(value.security),
    ...jwtProblems(value.security, outside),
    ...clientKeyProblems(value, [...providers, ...leftOut]),
    ...privacyProblems(value),
    ...cachingProblems(value.caching, value.state),
    ...stateProblems(value.state, outside),
    ...workerProblems(value),
    ...recordProblems(value),
    ...adminProblems(value.admin),
    ...outboundProblems(value.data_sharing, value.general),
  ];
}

function topProblems(value: unknown, earlier: readonly Problem[]): readonly Problem[] {
  if (earlier.length > 0) return earlier;
  const text = value === null
    ? "is empty; it needs providers and routing.routes"
    : "must be a mapping with providers and routing";
  return [problem([], text)];
}

function complete(written: WrittenConfig, outside: Outside): Config {
  const providers: [string, ProviderConfig][] = [];
  for (const [id, provider] of Object.entries(written.providers)) {
    const complete = completeProvider(id, provider, outside);
    if (complete !== null) providers.push([id, complete]);
  }
  const caching = completeCaching(written.caching);
  const state = completeState(written.state, outside);
  const admin = completeAdmin(written.admin);
  const security = completeIssuers(completeKeys(written.security), outside);
  return { ...written, admin, security, caching, state, providers: Object.fromEntries(providers) };
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) freeze(item);
    Object.freeze(value);
  }
  return value;
}
