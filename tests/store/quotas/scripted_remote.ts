import { type Result, success } from "../../../src/core/failure/result.ts";
import type { FallbackOperation } from "../../../src/data/state_operation.ts";
import { type MemoryQuotas, newMemoryQuotas, settleIn } from "../../../src/store/memory/quotas.ts";
import type { RemoteQuotas } from "../../../src/store/quotas/remote_quotas.ts";
import {
  newSharedQuotas,
  type SharedQuotas,
  type SharedQuotasOptions,
} from "../../../src/store/quotas/shared_quotas.ts";
import { storeUnavailable } from "../../../src/store/store_failure.ts";
import { type ScriptedWorld, scriptedWorld } from "../../support/world.ts";

/** How the store reacts: `silent` takes a command, but its reply is lost. */
export type Mode = "up" | "away" | "silent";

/** A store beyond the process as a test plays it, with one replica. */
export interface ScriptedStore {
  readonly world: ScriptedWorld;
  readonly quotas: SharedQuotas;
  /** Content of the store. */
  readonly content: MemoryQuotas;
  /** The operations that the store received, also in vain. */
  readonly asked: string[];
  readonly fallbacks: FallbackOperation[];
  mode: Mode;
  /** Opens another replica. */
  another(): SharedQuotas;
}

/** Returns a store that is up and empty. */
export function scriptedStore(onOutage: SharedQuotasOptions["onOutage"] = "serve"): ScriptedStore {
  const world = scriptedWorld();
  const content = newMemoryQuotas(world.now);
  const asked: string[] = [];
  const fallbacks: FallbackOperation[] = [];

  async function run<T>(name: string, operation: () => T | Promise<T>): Promise<Result<T>> {
    const { mode } = store;
    asked.push(name);
    await Promise.resolve();
    if (mode === "away") return storeUnavailable();
    const value = await operation();
    return mode === "up" ? success(value) : storeUnavailable();
  }

  const remote: RemoteQuotas = {
    admit: (scopes, call) => run("admit", () => content.admit(scopes, call)),
    settle: (call, uses) => run("settle", () => void settleIn(content.ledger, call, uses)),
    renew: (leases) => run("renew", () => content.renew(leases)),
    release: (leases) =>
      run("release", () => {
        for (const [caller, call] of leases) content.ledger.leases.remove(caller, call);
      }),
    async spent(callers) {
      const found = await run("spent", () => content.spent(callers));
      return found.ok ? found.value : found;
    },
  };
  const another = () =>
    newSharedQuotas(remote, {
      world,
      onOutage,
      onFallback: (operation) => void fallbacks.push(operation),
    });
  const store: ScriptedStore = {
    world,
    quotas: another(),
    content,
    asked,
    fallbacks,
    mode: "up",
    another,
  };
  return store;
}
