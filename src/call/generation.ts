import type { Config } from "../config/schema.ts";
import type { Strategy } from "../state/balancers.ts";
import type { Provider, Wire } from "../wires/wire.ts";

/** One configuration, compiled. Immutable; a reload swaps it whole. */
export interface Generation {
  readonly number: number;
  readonly config: Config;
  readonly providers: ReadonlyMap<string, Provider>;
  /** In file order; the first that matches a request is authoritative. */
  readonly routes: readonly Route[];
  /** Whoever calls `/v1/*` must present one of them; empty: nobody is asked. */
  readonly clientKeys: readonly ClientKey[];
}

/** A client that may call. */
export interface ClientKey {
  readonly name: string;
  /** What its rate and its objects are kept under: not a name that another kind of caller has. */
  readonly caller: string;
  /** SHA-256 of its key. */
  readonly digest: Uint8Array;
  /** Its own rate limit; null: that of everybody. */
  readonly requestsPerMinute: number | null;
}

/** A named way from matching requests to targets. */
export interface Route {
  readonly name: string;
  /** Literal prefix of the URL path; empty matches all. */
  readonly path: string;
  /** Lower-case header names with the values they must have. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Patterns of the requested model; null matches all. */
  readonly models: readonly ModelPattern[] | null;
  readonly strategy: Strategy;
  readonly targets: readonly RouteTarget[];
  /** Tried strictly in order after the targets. */
  readonly fallback: readonly RouteTarget[];
}

/** Tells whether a model is one of those that a pattern stands for. */
export type ModelPattern = (model: string) => boolean;

/** A provider inside a route. */
export interface RouteTarget {
  /** Tells the targets of a route apart, also two of the same provider and model. */
  readonly key: string;
  readonly provider: Provider;
  /** The protocol in which the provider is asked. */
  readonly wire: Wire;
  /** Null: the requested model, else the provider's default one. */
  readonly model: string | null;
  readonly weight: number;
}

/** Whether a route leads to the Responses API of a provider. */
export function isNativeTarget({ targets, fallback }: Route, provider: Provider): boolean {
  return [...targets, ...fallback].some((target) =>
    target.provider.id === provider.id && target.wire.name === "responses"
  );
}
