import type { Generation } from "../call/generation.ts";
import type { Config } from "../config/schema.ts";
import type { CredentialHolder, CredentialUpdate } from "../core/credential.ts";
import type { World } from "../core/world.ts";
import { newKeySets } from "../access/tokens/key_sets.ts";
import { type CredentialsDeps, newCredentials } from "../credentials/credentials.ts";
import { sourceOf } from "../gateway/compile_tokens.ts";
import { newKeyRefresh, type RefreshDeps } from "../gateway/key_refresh.ts";
import type { Demand, Handed } from "../workers/handed.ts";

/** Dependencies of the hand-over on the parent of workers. */
export interface HandOverDeps extends Pick<CredentialsDeps, "log" | "variable" | "newSource"> {
  readonly world: World;
  readonly credentialRefreshed: CredentialsDeps["counted"];
  readonly keysRefreshed: RefreshDeps["counted"];
  /** Hands something to all workers that run. */
  hand(handed: Handed): void;
}

/**
 * Returns what the parent of workers fetches for them, which is nothing before `apply`: the
 * credentials of providers and the keys of issuers. Each is refreshed once for all workers.
 */
export function newHandOver({ credentialRefreshed, keysRefreshed, hand, ...deps }: HandOverDeps) {
  const { world, log } = deps;
  const sets = newKeySets();
  let sources: readonly string[] = [];
  let current: Generation["credentials"] = new Map();

  const credentials = newCredentials({
    ...deps,
    counted: credentialRefreshed,
    updated(id) {
      const holder = current.get(id)?.holder;
      if (holder !== undefined) hand(handedCredential(holder));
    },
  });
  const refresh = newKeyRefresh({
    world,
    log,
    counted: keysRefreshed,
    receiver: {
      begin(source) {
        sets.begin(source);
        hand({ kind: "keys_begin", source });
      },
      end(source, keys) {
        sets.end(source, keys, world.now());
        hand(handedKeys(source));
      },
    },
  });
  sets.onDemand(refresh.demand);

  function handedKeys(source: string): Handed {
    const keys = sets.current(source, world.now())?.keys ?? null;
    const ageMs = sets.state(source, world.now())?.ageMs ?? 0;
    return { kind: "keys", source, keys, ageMs, isFailing: sets.isFailing(source) };
  }

  /** Returns what has been fetched; of a credential also that its first refresh has failed. */
  function all(): readonly Handed[] {
    const holders = [...current.values()].map(({ holder }) => holder);
    return [
      ...holders.filter((holder) => holder.first() === null).map(handedCredential),
      ...sources.filter((source) => sets.state(source, world.now()) !== null).map(handedKeys),
    ];
  }

  return {
    /** For a worker that starts. */
    all,
    /**
     * Refreshes what a worker demands. Resolves with what that worker is to be handed, which ends
     * its wait; null if all workers will be handed it.
     */
    async demand(demanded: Demand): Promise<Handed | null> {
      if (demanded.of === "credential") {
        await credentials.renew(demanded.id);
        const holder = current.get(demanded.id)?.holder;
        return holder === undefined
          ? { kind: "credential", id: demanded.id, update: NOT_CONFIGURED }
          : handedCredential(holder);
      }
      const { source } = demanded;
      sets.demand(source, world.now());
      // Keys that were just refreshed are handed over as they are.
      return sets.isRefreshing(source) ? null : handedKeys(source);
    },
    /**
     * Refreshes what a configuration needs from now on, and hands over what is there of it.
     * Resolves when the keys of each issuer have been tried once.
     */
    apply(config: Pick<Config, "security">, next: Generation["credentials"]): Promise<void> {
      current = next;
      sources = [...new Set(config.security.jwt.issuers.map(sourceOf))];
      sets.retain(new Set(sources));
      for (const handed of all()) hand(handed);
      credentials.configure(next);
      return refresh.apply(config);
    },
    async close(): Promise<void> {
      credentials.close();
      await refresh.close();
    },
  };
}

/** Update of a credential that no provider has any more. */
const NOT_CONFIGURED: CredentialUpdate = { issued: null, isFailing: true, nextMs: null };

function handedCredential(holder: CredentialHolder): Handed {
  return { kind: "credential", id: holder.id, update: holder.latest() };
}
