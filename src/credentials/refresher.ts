import { Cancellation } from "../core/cancellation.ts";
import { type CredentialHolder, isSameCredential } from "../core/credential.ts";
import type { World } from "../core/world.ts";
import type { CredentialSource, Fetched } from "./source.ts";

/** Longest wait of a timer: the clock of the wall may be set, or the machine may sleep. */
const MAX_WAIT_MS = 60_000;

/** Least time before its end at which a credential is replaced, unless the file states another. */
const USUAL_BEFORE_MS = 5 * 60_000;

/** Time between two refreshes because of refused requests. */
const RENEW_INTERVAL_MS = 30_000;

/** The same for a source that is only looked at, such as a file. */
const LOOK_AGAIN_INTERVAL_MS = 1_000;

const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 60_000;

/** Dependencies of the refresher of a credential. */
export interface RefresherDeps {
  readonly world: Pick<World, "after" | "random" | "wall" | "now">;
  readonly holder: CredentialHolder;
  readonly source: CredentialSource;
  /** `refresh_before` in milliseconds; null for the usual time. */
  readonly beforeMs: number | null;
  /** Receives the result of each refresh; null after a success, else the reason. */
  refreshed(reason: string | null): void;
  /** Called when the holder has another update. */
  updated(): void;
}

/** Refreshes one credential ahead of its end. */
export interface Refresher {
  /** Refreshes now, unless that has been done for refused requests a short time ago. */
  renew(): Promise<void>;
  /** Ends the refreshes, and cancels one that runs. */
  close(): void;
}

/** Returns a refresher whose first refresh has begun. */
export function startRefresher(deps: RefresherDeps): Refresher {
  const { world, holder, source } = deps;
  const cancellation = new Cancellation();
  let running: Promise<void> | null = null;
  let failures = 0;
  let renewedAt = -Infinity;
  let cancelTimer = () => {};
  const renewIntervalMs = source.everyMs === null ? RENEW_INTERVAL_MS : LOOK_AGAIN_INTERVAL_MS;

  /** Refreshes once, however many wait for it. */
  function refresh(): Promise<void> {
    cancelTimer();
    return running ??= fetchOnce().finally(() => running = null);
  }

  async function fetchOnce(): Promise<void> {
    const fetched = await source.fetch(cancellation);
    if (cancellation.isCancelled) return;
    const earlier = holder.issued();
    if (!fetched.ok) failures++;
    const isUnchanged = fetched.ok && failures === 0 && isSameCredential(fetched.issued, earlier);
    if (fetched.ok) failures = 0;
    const nextMs = nextRefresh(fetched);
    holder.update({
      issued: fetched.ok ? fetched.issued : earlier,
      isFailing: !fetched.ok,
      nextMs,
    });
    // A look at a file that has not changed is not a refresh.
    if (!isUnchanged) {
      deps.refreshed(fetched.ok ? null : fetched.reason);
      deps.updated();
    }
    if (nextMs !== null) waitUntil(nextMs, world.now() + nextMs - world.wall());
  }

  /** Returns the Unix time in milliseconds of the next refresh; null for none. */
  function nextRefresh(fetched: Fetched): number | null {
    const now = world.wall();
    if (source.everyMs !== null) return now + source.everyMs;
    if (!fetched.ok) {
      const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1));
      return now + backoffMs * (0.8 + 0.4 * world.random());
    }
    const { expiresMs } = fetched.issued;
    if (expiresMs === null) return null;
    const lifetimeMs = expiresMs - now;
    const beforeMs = deps.beforeMs ?? Math.max(USUAL_BEFORE_MS, lifetimeMs / 5);
    // Earlier by up to a tenth, so that many gateways do not refresh in the same second. A short
    // credential is used for half of its time at least.
    const dueMs = expiresMs - beforeMs * (1 + 0.1 * world.random());
    return Math.max(dueMs, now + lifetimeMs / 2);
  }

  /** Refreshes at a time of the wall, or of the other clock if the wall's has been set back. */
  function waitUntil(dueMs: number, dueNowMs: number): void {
    if (cancellation.isCancelled) return;
    const leftMs = Math.min(dueMs - world.wall(), dueNowMs - world.now());
    cancelTimer = leftMs <= 0
      ? world.after(0, () => void refresh())
      : world.after(Math.min(leftMs, MAX_WAIT_MS), () => waitUntil(dueMs, dueNowMs));
  }

  holder.refreshWith(renew);

  function renew(): Promise<void> {
    if (running !== null) return running;
    if (cancellation.isCancelled || world.now() - renewedAt < renewIntervalMs) {
      return Promise.resolve();
    }
    renewedAt = world.now();
    return refresh();
  }

  void refresh();
  return {
    renew,
    close() {
      cancellation.cancel(null);
      cancelTimer();
    },
  };
}
