import type { World } from "../core/world.ts";
import type { QuotaStore } from "./quota_store.ts";

/** Renews the concurrent calls of clients while they run. */
export interface LeaseRenewal {
  /** Begins to renew a call for the callers whose concurrent calls it holds. */
  add(call: string, callers: readonly string[]): void;
  /** Ends the renewal of a call; no effect for other calls. */
  remove(call: string): void;
  /** Number of calls that are renewed. */
  readonly size: number;
}

/** Time between two renewals of a running call: a third of its lease. */
const RENEW_INTERVAL_MS = 10_000;

/**
 * Returns a renewal of no calls. One timer serves all calls, and there is none while no call runs.
 */
export function newLeaseRenewal(
  extend: QuotaStore["renew"],
  world: Pick<World, "after">,
): LeaseRenewal {
  const running = new Map<string, readonly string[]>();
  let cancel: (() => void) | null = null;

  function* leases() {
    for (const [call, callers] of running) {
      for (const caller of callers) yield [caller, call] as const;
    }
  }

  function renew() {
    cancel = world.after(RENEW_INTERVAL_MS, renew);
    void extend(leases());
  }

  return {
    add(call, callers) {
      running.set(call, callers);
      cancel ??= world.after(RENEW_INTERVAL_MS, renew);
    },
    remove(call) {
      if (!running.delete(call) || running.size > 0) return;
      cancel?.();
      cancel = null;
    },
    get size() {
      return running.size;
    },
  };
}
