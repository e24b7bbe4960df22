import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { unescape } from "node:querystring";
import { isDeepStrictEqual } from "node:util";
import { credentialIdentity } from "../config/credential_rules.ts";
import { isPattern, namedRoutes } from "../config/models_rules.ts";
import {
  type Config,
  type CredentialConfig,
  type NamedModelConfig,
  type ProviderConfig,
  routeBodies,
  type RouteConfig,
} from "../config/schema.ts";
import { newCredentialHolder } from "../core/credential.ts";
import type { TlsSettings, Transport } from "../core/transport.ts";
import { basicCredentials } from "../core/uri_text.ts";
import { compilePrivacy } from "../privacy/compile.ts";
import type { Preset } from "../prompt/preset.ts";
import { wires } from "../wires/registry.ts";
import type { Failover, Provider, ProviderAccount } from "../wires/wire.ts";
import type {
  Generation,
  ListedNamedModel,
  ProviderCredential,
  Route,
  RouteTarget,
} from "../call/generation.ts";
import { newCalendar } from "../core/calendar.ts";
import { compileClientKeys } from "./compile_keys.ts";
import { compileTokens } from "./compile_tokens.ts";
import { compileGlob } from "../core/glob.ts";
import { sharedCachePrefix, sharedNamespace } from "./shared_cache_names.ts";

/** Returns the configuration of one process of a gateway with several. */
export type Divide = (whole: Config) => Config;

/**
 * Compiles a validated configuration. A provider with the same settings as in the previous
 * generation stays the same object, and its cached responses stay valid. The processes of a gateway
 * have their shares of its limits, but the names of the whole configuration in a cache that they
 * share.
 */
export function compile(
  whole: Config,
  number: number,
  previous: Generation | null = null,
  divide: Divide = (config) => config,
): Generation {
  const config = divide(whole);
  const { encryption_keys } = whole.state;
  const credentials = compileCredentials(whole, previous?.credentials ?? new Map());
  const providers = new Map(
    Object.entries(whole.providers).map(([id, settings]) => {
      const earlier = previous?.providers.get(id);
      const isSame = isDeepStrictEqual(previous?.whole.providers[id], settings);
      if (earlier !== undefined && isSame) return [id, earlier];
      const own = config.providers[id] ?? settings;
      const compiled = { generation: number, whole: settings, encryption_keys, credentials };
      return [id, compileProvider(id, own, compiled)];
    }),
  );
  const named = namedRoutes(config).map(({ name, model, route }): NamedRoute => {
    const preset = newPreset(name, model);
    return { name, model, route: compileRoute(config, route, providers, { preset }) };
  });
  const routes = [
    ...named.map(({ route }) => route),
    ...config.routing.routes.map((route) => compileRoute(config, route, providers)),
  ];
  const calendar = newCalendar(config.security.time_zone);
  return {
    number,
    whole,
    config,
    providers,
    credentials,
    routes,
    namedModels: collectModels(config),
    listedModels: listedModels(named),
    loaded: 0,
    clientKeys: compileClientKeys(config, calendar),
    tokens: compileTokens(config, previous),
    privacy: compilePrivacy(whole),
    calendar,
    sharedCachePrefix: sharedCachePrefix(whole),
  };
}

/** Returns the models that a configuration names in targets, as defaults or in lists. */
function collectModels(config: Config): ReadonlySet<string> {
  const { providers } = config;
  const targets = routeBodies(config).flatMap(({ targets, fallback }) => [...targets, ...fallback]);
  return new Set([
    ...targets.flatMap(({ model = "" }) => model),
    ...Object.values(providers).flatMap(({ default_model = "", models }) => [
      default_model,
      ...models.static,
    ]),
  ]);
}

/**
 * Returns the credentials of a configuration. One with equal settings keeps its holder, so that a
 * reload does not wait for a new token.
 */
export function compileCredentials(
  { providers }: Pick<Config, "providers">,
  previous: Generation["credentials"],
): Generation["credentials"] {
  const compiled = new Map<string, ProviderCredential>();
  const all = Object.entries(providers).flatMap(([id, { api_keys }]) =>
    api_keys.map(({ credential }) => ({ id, credential }))
  );
  for (const { id, credential } of all) {
    if (credential === undefined) continue;
    const key = digest(credential);
    const known = compiled.get(key);
    compiled.set(key, {
      holder: known?.holder ?? previous.get(key)?.holder ?? newCredentialHolder(key),
      settings: credential,
      providers: [...known?.providers ?? [], id],
    });
  }
  return compiled;
}

/** Members of a provider besides its settings. */
interface Compiled {
  readonly generation: number;
  /** Its settings in the whole configuration, which name it in a shared cache. */
  readonly whole: ProviderConfig;
  readonly encryption_keys: Config["state"]["encryption_keys"];
  readonly credentials: Generation["credentials"];
}

/**
 * Compiles a provider. Its functions are not made in `compile`: they would keep everything there in
 * memory, and with the previous generation all that were before it.
 */
function compileProvider(
  id: string,
  settings: ProviderConfig,
  { generation, whole, encryption_keys, credentials }: Compiled,
): Provider {
  const wire = wires[settings.type];
  const { address, query } = splitUrl(settings.base_url);
  const base = wire.base(address);
  const accounts = compileAccounts(settings, base, query, credentials);
  const secrets = collectSecrets(settings);
  const holders = accounts.flatMap(({ credential }) => credential?.holder ?? []);
  const [first, ...others] = accounts;
  let namespace: string | null = null;
  return {
    id,
    wire,
    settings,
    base,
    query,
    accounts,
    upstream: others.length === 0 ? first.digest : digestUpstream(settings, base, query),
    namespace: `${id}@${generation}`,
    get sharedNamespace() {
      // Made when a response of the provider is first looked for in a shared cache.
      return namespace ??= sharedNamespace(id, whole, encryption_keys);
    },
    get secrets() {
      if (holders.length === 0) return secrets;
      return [...secrets, ...holders.flatMap((one) => one.secrets()).filter(isLongSecret)];
    },
    transport: newTransport(settings),
  };
}

function splitUrl(url: string): { readonly address: string; readonly query: string } {
  const mark = url.indexOf("?");
  return mark < 0
    ? { address: url, query: "" }
    : { address: url.slice(0, mark), query: url.slice(mark + 1) };
}

function newTransport({ connect_timeout, keep_alive, tls }: ProviderConfig): Transport {
  return {
    connectTimeoutMs: connect_timeout,
    keepAliveMs: keep_alive,
    tls: tls === undefined ? null : newTlsSettings(tls),
  };
}

function newTlsSettings(tls: NonNullable<ProviderConfig["tls"]>): TlsSettings {
  const { ca, identity, serverName } = tls;
  return { id: digest(tls), caCerts: ca === null ? [] : [ca], identity, serverName };
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** Returns the accounts of a provider: one for each key, or one without a key. */
function compileAccounts(
  settings: ProviderConfig,
  base: string,
  query: string,
  credentials: Generation["credentials"],
): Provider["accounts"] {
  const [first = { name: "default", value: "", weight: 1 }, ...others] = settings.api_keys;
  return [compileAccount(first), ...others.map(compileAccount)];

  function compileAccount(
    { name, value, credential, weight, models }: ProviderConfig["api_keys"][number],
  ): ProviderAccount {
    const patterns = models?.map(compileGlob) ?? null;
    return {
      name,
      digest: digestAccount(settings, base, query, identityOf(credential) ?? value),
      key: value === "" ? null : value,
      credential: credential === undefined ? null : credentials.get(digest(credential)) ?? null,
      weight,
      serves: (model) => patterns === null || patterns.some((isMeant) => isMeant(model)),
    };
  }
}

/**
 * Returns the identity of a credential as text. Its tokens are no part of the account, which would
 * change with each of them.
 */
function identityOf(credential: CredentialConfig | undefined): string | null {
  return credential === undefined ? null : JSON.stringify(credentialIdentity(credential));
}

/**
 * Returns the digest of the address of a provider with several keys, which does not change with
 * them.
 */
function digestUpstream(settings: ProviderConfig, base: string, query: string): string {
  const { type, organization = "" } = settings;
  return digest([type, base, organization, query, "several keys"]);
}

/**
 * Returns the digest that identifies an account of a provider. Without a key, static headers
 * and a client certificate may be the credentials, so all of them count.
 */
function digestAccount(
  settings: ProviderConfig,
  base: string,
  query: string,
  key: string,
): string {
  const { type, organization = "", tls } = settings;
  const headers = key !== "" ? [] : Object.entries(settings.headers)
    .map(([name, value]) => [name.toLowerCase(), value])
    .toSorted(([a = ""], [b = ""]) => a < b ? -1 : 1);
  const identity = key !== "" ? null : tls?.identity ?? null;
  const certificate = identity === null ? [] : [identity.cert];
  const queries = query === "" ? [] : [query];
  return digest([type, base, organization, key, ...headers, ...queries, ...certificate]);
}

/** Minimum length of a secret that is redacted; shorter texts would match unrelated text. */
const MIN_SECRET_CHARS = 4;

function isLongSecret(text: string): boolean {
  return text.length >= MIN_SECRET_CHARS;
}

/** Minimum length for query parameters, which are mostly words such as `json`. */
const MIN_QUERY_SECRET_CHARS = 8;

/** Scheme before the key in a header: a provider may repeat the key alone. */
const SCHEME = /^(?:api-?key|basic|bearer|key|token) +/i;

function collectSecrets(settings: ProviderConfig): string[] {
  const url = new URL(settings.base_url);
  const texts = [
    ...settings.api_keys.flatMap((key) => [key.value, ...credentialSecrets(key)]),
    // Does not throw on a literal %.
    unescape(url.password),
    basicCredentials(url) ?? "",
    ...Object.values(settings.headers).flatMap(headerSecrets),
  ];
  const parameters = [
    ...url.searchParams.values(),
    ...url.search.slice(1).split("&").map((pair) => pair.slice(pair.indexOf("=") + 1)),
  ];
  return [
    ...texts.filter(isLongSecret),
    ...new Set(parameters.filter((text) => text.length >= MIN_QUERY_SECRET_CHARS)),
  ];
}

/** Returns the key in a header, and the password that a provider decodes from a basic one. */
function headerSecrets(value: string): string[] {
  const key = value.replace(SCHEME, "");
  if (!/^basic /i.test(value)) return [key];
  const user = Buffer.from(key, "base64").toString();
  return [key, user.slice(user.indexOf(":") + 1)];
}

/** Returns the secrets that the configuration states for a credential. */
function credentialSecrets({ credential }: ProviderConfig["api_keys"][number]): string[] {
  const { client_secret, secret_access_key, session_token } = credential ?? {};
  return [client_secret, secret_access_key, session_token].filter((text) => text !== undefined);
}

/** A named model with its compiled route. */
interface NamedRoute {
  readonly name: string;
  readonly model: NamedModelConfig;
  readonly route: Route;
}

function listedModels(named: readonly NamedRoute[]): ListedNamedModel[] {
  return named.filter(({ name }) => !isPattern(name))
    .map(({ name, model, route }) => {
      const { display_name = name, context_size = null, max_output = null } = model;
      return {
        name,
        displayName: display_name,
        contextSize: context_size,
        maxOutput: max_output,
        route,
      };
    });
}

function newPreset(name: string, model: NamedModelConfig): Preset {
  const { parameters, max_output = null, system = null, response_model } = model;
  const showsName = response_model === "requested";
  return { name, parameters, maxOutput: max_output, system, showsName };
}

function compileRoute(
  config: Config,
  route: RouteConfig,
  providers: ReadonlyMap<string, Provider>,
  named: Pick<Route, "preset"> = {},
): Route {
  const shared = {
    ...named,
    omitTools: route.omit_tools,
    fallbackOn: route.fallback_on,
    delivery: {
      earlyHeadMs: route.early_head ?? null,
      hold: route.hold === undefined ? null : { ms: route.hold, maxBytes: route.hold_bytes },
    },
  };
  return {
    ...named,
    name: route.name,
    path: route.match.path,
    headers: Object.entries(route.match.headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const),
    models: route.match.models?.map(compileGlob) ?? null,
    keys: route.match.key === undefined ? null : route.match.key.map(compileGlob),
    labels: Object.entries(route.match.labels),
    ...route.record !== undefined && { record: route.record },
    strategy: route.strategy ?? config.routing.default_strategy,
    targets: compileTargets(route.targets, shared, providers),
    fallback: compileTargets(route.fallback, shared, providers),
  };
}

/** Settings that all targets of a route share. */
type SharedByTargets =
  & Pick<RouteTarget, "omitTools" | "delivery" | "preset">
  & Pick<Failover, "fallbackOn">;

function compileTargets(
  written: RouteConfig["targets"] | RouteConfig["fallback"],
  { fallbackOn, ...shared }: SharedByTargets,
  providers: ReadonlyMap<string, Provider>,
): RouteTarget[] {
  const counts = new Map<string, number>();
  return written.flatMap((target) => {
    const provider = providers.get(target.provider);
    if (provider === undefined) return [];
    const model = target.model ?? null;
    const isNative = target.upstream_request_type === "responses";
    const wire = isNative ? wires.responses : provider.wire;
    const name = `${target.provider} ${wire.name} ${model ?? ""}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    // Without the place of the target in its list, which changes with the targets before it.
    const key = `${count} ${name}`;
    const { first_content_timeout = provider.settings.first_content_timeout } = target;
    const failover = {
      firstContentMs: first_content_timeout ?? null,
      contextSize: target.context_size ?? null,
      fallbackOn,
    };
    return [{ key, provider, wire, model, weight: target.weight ?? 1, failover, ...shared }];
  });
}
