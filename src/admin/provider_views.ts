import { breakerState, findRest } from "../call/accounts.ts";
import { hasPool, servingAccounts } from "../call/key_pool.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Feed } from "./feed.ts";
import type { ProviderView } from "./snapshot.ts";

/** Returns the providers in the order of the file. */
export function providerViews(
  { generation, state }: Pick<Gateway, "generation" | "state">,
  feed: Pick<Feed, "provider">,
): readonly ProviderView[] {
  const { circuit_breaker } = generation.config;
  return [...generation.providers.values()].map((provider): ProviderView => {
    const { id, settings, accounts } = provider;
    const breaker = circuit_breaker.enabled ? breakerState({ state }, provider) : "closed";
    const wait = ({ digest }: { readonly digest: string }) =>
      state.breakers.longestOpenFor(digest, circuit_breaker);
    const waits = servingAccounts(provider, "").map(wait);
    const isOpen = ({ digest }: { readonly digest: string }) =>
      circuit_breaker.enabled && state.breakers.state(digest) === "open";
    const max = settings.max_concurrent ?? null;
    const slots = max === null ? null : state.slots.counts(provider);
    return {
      id,
      type: settings.type,
      breaker,
      opensInMs: breaker === "open" ? Math.round(Math.min(...waits)) : null,
      ...feed.provider(id),
      running: slots?.running ?? null,
      queued: slots?.queued ?? null,
      maxConcurrent: max,
      keys: !hasPool(provider) ? [] : accounts.map((account) => {
        const rest = findRest({ state }, provider, account);
        return {
          name: account.name,
          isUsed: account.weight > 0,
          restsForMs: rest === null ? null : Math.round(rest.leftMs),
          opensInMs: isOpen(account) ? Math.round(wait(account)) : null,
        };
      }),
    };
  });
}
