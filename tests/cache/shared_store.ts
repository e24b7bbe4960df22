import type { HttpResponse } from "../../src/core/stream/reply.ts";
import type { CachedResponses } from "../../src/store/cached_responses.ts";

/** Cached responses outside the process, which return promises. */
export interface SharedStore extends CachedResponses {
  readonly entries: ReadonlyMap<
    string,
    { readonly response: HttpResponse; readonly ttlMs: number }
  >;
}

/** A store that several gateways of a test use. */
export function newSharedStore(): SharedStore {
  const entries = new Map<string, { readonly response: HttpResponse; readonly ttlMs: number }>();
  return {
    entries,
    get: (key) => Promise.resolve(entries.get(key)?.response ?? null),
    set(key, response, ttlMs) {
      entries.set(key, { response, ttlMs });
      return Promise.resolve();
    },
  };
}

/** Settings of a shared cache: a store of another process must be chosen too. */
export function sharing(settings = "", provider = "", state = ""): string {
  const more = settings === "" ? "" : `, ${settings}`;
  return `
caching: {enabled: true, shared: true${more}}
state: {store: valkey${state === "" ? "" : `, ${state}`}}
providers:
  up: {type: compat, base_url: "http://up/v1"${provider === "" ? "" : `, ${provider}`}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`;
}
