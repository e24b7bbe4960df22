import type { Config, CredentialConfig } from "../config/schema.ts";
import type { CredentialHolder } from "../core/credential.ts";
import type { Calendar } from "../core/calendar.ts";
import type { RecordChoice } from "../core/record_choice.ts";
import type { CompiledPrivacy } from "../privacy/compile.ts";
import type { Preset } from "../prompt/preset.ts";
import type { Strategy } from "../traffic/balancers.ts";
import type { Failover, Provider, StreamDelivery, Wire } from "../wires/wire.ts";
import type { ClientKey, ModelPattern } from "../access/client_key.ts";
import type { TokenClients } from "../access/tokens/token_clients.ts";

/** One compiled configuration. Immutable; a reload replaces it as a whole. */
export interface Generation {
  readonly number: number;
  /** The configuration of this process: of several, each has its share of the limits. */
  readonly config: Config;
  /** The configuration of the whole gateway. */
  readonly whole: Config;
  readonly providers: ReadonlyMap<string, Provider>;
  /** The credentials that are refreshed, by the ID of their holder. */
  readonly credentials: ReadonlyMap<string, ProviderCredential>;
  /**
   * Routes of named models, then those of the file in its order; the first route that matches a
   * request is used.
   */
  readonly routes: readonly Route[];
  /**
   * Models that the configuration names for requests, each with a circuit breaker that no other
   * model shares.
   */
  readonly namedModels: ReadonlySet<string>;
  /** Named models in file order, without patterns. */
  readonly listedModels: readonly ListedNamedModel[];
  /** Time of the load in seconds since 1970; 0 outside a gateway. */
  readonly loaded: number;
  /** Client keys accepted on `/v1/*`; empty if there are none. */
  readonly clientKeys: readonly ClientKey[];
  /** Clients with tokens of issuers; null if tokens are not accepted. */
  readonly tokens: TokenClients | null;
  /** Prefix of keys of a shared cache: digest of the settings whose change empties it. */
  readonly sharedCachePrefix: string;
  /** Privacy policies; null if there are none. */
  readonly privacy: CompiledPrivacy | null;
  /** Calendar of `security.time_zone`, for the windows of budgets. */
  readonly calendar: Calendar;
}

/** A credential that is refreshed, with the providers that use it. */
export interface ProviderCredential {
  readonly holder: CredentialHolder;
  readonly settings: CredentialConfig;
  /** IDs of the providers, in file order. */
  readonly providers: readonly string[];
}

/** A named model in the lists of models; null for what the file does not say. */
export interface ListedNamedModel {
  readonly name: string;
  readonly displayName: string;
  readonly contextSize: number | null;
  readonly maxOutput: number | null;
  readonly route: Route;
}

/** A named rule that sends matching requests to targets. */
export interface Route {
  readonly name: string;
  /** Literal prefix of the URL path; empty matches all. */
  readonly path: string;
  /** Lower-case header names with their required values. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Patterns of the requested model; null matches all. */
  readonly models: readonly ModelPattern[] | null;
  /** Patterns of the names of clients; null matches every client. */
  readonly keys: readonly ModelPattern[] | null;
  /** Labels that the client key must have. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly strategy: Strategy;
  readonly targets: readonly RouteTarget[];
  /** Tried strictly in order after the targets. */
  readonly fallback: readonly RouteTarget[];
  /** Extent of the records of the route's calls; absent if it does not say. */
  readonly record?: RecordChoice;
  /** The named model whose route this is; absent for a route of `routing.routes`. */
  readonly preset?: Preset;
}

/** A provider and model of a route. */
export interface RouteTarget {
  /** Key that is unique in the route, also for two targets of the same provider and model. */
  readonly key: string;
  readonly provider: Provider;
  /** Protocol of requests to the provider. */
  readonly wire: Wire;
  /**
   * Model of the upstream request; null for the requested model, else the provider's default model.
   */
  readonly model: string | null;
  readonly weight: number;
  /** Types of hosted tools that the target does not get if it cannot serve them. */
  readonly omitTools: readonly string[];
  readonly failover: Failover;
  /** How the route delivers streams. */
  readonly delivery: StreamDelivery;
  /** Preset of the route's named model; absent for a route of the file. */
  readonly preset?: Preset;
}

/** True if a route has a target at the Responses API of the provider. */
export function isNativeTarget({ targets, fallback }: Route, provider: Provider): boolean {
  return [...targets, ...fallback].some((target) =>
    target.provider.id === provider.id && target.wire.name === "responses"
  );
}
