import { createHash } from "node:crypto";
import { unescape } from "node:querystring";
import { isDeepStrictEqual } from "node:util";
import type { Config, ProviderConfig, RouteConfig } from "../config/schema.ts";
import type { TlsSettings, Transport } from "../core/transport.ts";
import { wires } from "../wires/registry.ts";
import type { Provider, ProviderAccount } from "../wires/wire.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import { newCalendar } from "../core/calendar.ts";
import { compileClientKeys } from "./compile_keys.ts";
import { compileTokens } from "./compile_tokens.ts";
import { compileGlob } from "../observe/glob.ts";
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
  const providers = new Map(
    Object.entries(whole.providers).map(([id, settings]) => {
      const earlier = previous?.providers.get(id);
      const isSame = isDeepStrictEqual(previous?.whole.providers[id], settings);
      if (earlier !== undefined && isSame) return [id, earlier];
      const name = sharedNamespace(id, settings, encryption_keys);
      return [id, compileProvider(id, config.providers[id] ?? settings, number, name)];
    }),
  );
  const routes = config.routing.routes.map((route) => compileRoute(config, route, providers));
  const calendar = newCalendar(config.security.time_zone);
  return {
    number,
    whole,
    config,
    providers,
    routes,
    namedModels: collectModels(config),
    clientKeys: compileClientKeys(config, calendar),
    tokens: compileTokens(config, previous),
    calendar,
    sharedCachePrefix: sharedCachePrefix(whole),
  };
}

/** Returns the models that a configuration names in targets, as defaults or in lists. */
function collectModels({ routing, providers }: Config): ReadonlySet<string> {
  const targets = routing.routes.flatMap(({ targets, fallback }) => [...targets, ...fallback]);
  return new Set([
    ...targets.flatMap(({ model = "" }) => model),
    ...Object.values(providers).flatMap(({ default_model = "", models }) => [
      default_model,
      ...models.static,
    ]),
  ]);
}

function compileProvider(
  id: string,
  settings: ProviderConfig,
  generation: number,
  sharedNamespace: string,
): Provider {
  const wire = wires[settings.type];
  const { address, query } = splitUrl(settings.base_url);
  const base = wire.base(address);
  const accounts = compileAccounts(settings, base, query);
  const [first, ...others] = accounts;
  return {
    id,
    wire,
    settings,
    base,
    query,
    accounts,
    upstream: others.length === 0 ? first.digest : digestUpstream(settings, base, query),
    namespace: `${id}@${generation}`,
    sharedNamespace,
    secrets: collectSecrets(settings),
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
): Provider["accounts"] {
  const [first = { name: "default", value: "", weight: 1 }, ...others] = settings.api_keys;
  return [compileAccount(first), ...others.map(compileAccount)];

  function compileAccount(
    { name, value, weight, models }: ProviderConfig["api_keys"][number],
  ): ProviderAccount {
    const patterns = models?.map(compileGlob) ?? null;
    return {
      name,
      digest: digestAccount(settings, base, query, value),
      key: value === "" ? null : value,
      weight,
      serves: (model) => patterns === null || patterns.some((isMeant) => isMeant(model)),
    };
  }
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

/** Minimum length for query parameters, which are mostly words such as `json`. */
const MIN_QUERY_SECRET_CHARS = 8;

function collectSecrets(settings: ProviderConfig): string[] {
  const url = new URL(settings.base_url);
  const texts = [
    ...settings.api_keys.map(({ value }) => value),
    // Does not throw on a literal %.
    unescape(url.password),
    ...Object.values(settings.headers),
  ];
  const parameters = [
    ...url.searchParams.values(),
    ...url.search.slice(1).split("&").map((pair) => pair.slice(pair.indexOf("=") + 1)),
  ];
  return [
    ...texts.filter((text) => text.length >= MIN_SECRET_CHARS),
    ...new Set(parameters.filter((text) => text.length >= MIN_QUERY_SECRET_CHARS)),
  ];
}

function compileRoute(
  config: Config,
  route: RouteConfig,
  providers: ReadonlyMap<string, Provider>,
): Route {
  return {
    name: route.name,
    path: route.match.path,
    headers: Object.entries(route.match.headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const),
    models: route.match.models?.map(compileGlob) ?? null,
    keys: route.match.key === undefined ? null : route.match.key.map(compileGlob),
    labels: Object.entries(route.match.labels),
    strategy: route.strategy ?? config.routing.default_strategy,
    targets: compileTargets(route.targets, route.omit_tools, providers),
    fallback: compileTargets(route.fallback, route.omit_tools, providers),
  };
}

interface WrittenTarget {
  readonly provider: string;
  readonly model?: string | undefined;
  readonly weight?: number | undefined;
  readonly upstream_request_type: "chat_completions" | "responses";
}

function compileTargets(
  written: readonly WrittenTarget[],
  omitTools: readonly string[],
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
    return [{ key, provider, wire, model, weight: target.weight ?? 1, omitTools }];
  });
}
