import type { Generation, ProviderCredential } from "../call/generation.ts";
import type { CredentialUpdate } from "../core/credential.ts";
import type { World } from "../core/world.ts";
import type { Log } from "../observe/log.ts";
import { newSource as sourceOf } from "./new_source.ts";
import { type Refresher, startRefresher } from "./refresher.ts";
import type { NewSource, SourceDeps } from "./source.ts";

/** Dependencies of the credentials of a process. */
export interface CredentialsDeps extends Pick<SourceDeps, "variable"> {
  readonly world: World;
  readonly log: Log;
  /** Counts a refresh of each provider that uses the credential. */
  counted(provider: string, result: "success" | "failure"): void;
  /** Receives what other processes need to know; absent in a gateway of one process. */
  readonly updated?: (id: string, update: CredentialUpdate) => void;
  /** Returns the source of a credential; absent for that of its type. */
  readonly newSource?: NewSource;
}

/** The credentials that this process refreshes. */
export interface Credentials {
  /**
   * Refreshes these credentials from now on and no others. One with equal settings continues; a new
   * one is fetched at once.
   */
  configure(credentials: Generation["credentials"]): void;
  /** Refreshes a credential that a provider has refused. Resolves when that has ended. */
  renew(id: string): Promise<void>;
  /** Ends all refreshes. */
  close(): void;
}

/** Returns the credentials of a process, which are none before `configure`. */
export function newCredentials(deps: CredentialsDeps): Credentials {
  const running = new Map<string, Refresher>();
  /** The credentials of the current configuration: their providers may change. */
  let current: Generation["credentials"] = new Map();
  const { world, log, newSource = sourceOf } = deps;

  function start(id: string, { holder, settings }: ProviderCredential): Refresher {
    let isLate = false;
    return startRefresher({
      world,
      holder,
      source: newSource(settings, deps),
      beforeMs: settings.refresh_before ?? null,
      refreshed(reason) {
        const providers = current.get(id)?.providers ?? [];
        for (const one of providers) deps.counted(one, reason === null ? "success" : "failure");
        const fields = { providers: providers.join(", "), type: settings.type };
        // One line for each outage, however often the refresh fails.
        if (reason !== null && !isLate) {
          log.warn("a credential could not be refreshed", { ...fields, reason });
        } else if (reason === null && isLate) log.info("a credential is refreshed again", fields);
        isLate = reason !== null;
      },
      updated: () => deps.updated?.(id, holder.latest()),
    });
  }

  return {
    configure(credentials) {
      current = credentials;
      for (const [id, refresher] of running) {
        if (credentials.has(id)) continue;
        refresher.close();
        running.delete(id);
      }
      for (const [id, credential] of credentials) {
        if (!running.has(id)) running.set(id, start(id, credential));
      }
    },
    renew: (id) => running.get(id)?.renew() ?? Promise.resolve(),
    close() {
      for (const refresher of running.values()) refresher.close();
      running.clear();
    },
  };
}
