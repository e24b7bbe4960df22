import type { World } from "../../core/world.ts";
import type { Stored } from "../object_store.ts";

/** Log of the availability of a store. */
export interface AvailabilityLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Dependencies of the watch over one store. */
export interface AvailabilityOptions {
  readonly world: Pick<World, "after" | "now">;
  readonly log: AvailabilityLog;
  /** Asks the store for a sign of life, which may be a small write. */
  ping(doesWrite: boolean): Stored<void>;
  /** Called after each ping that the store has answered, once it is known to be available. */
  onAnswer(): Promise<void>;
  /** Called with each ping, whatever its result. */
  onTick(): void;
  /** Returns the number of writes that wait for the store. */
  waiting(): number;
}

/** Knows whether a store is available: it is if it has answered the last ping. */
export interface AvailabilityWatch {
  readonly isUp: boolean;
  /** Milliseconds since the store was found unavailable; null while it is available. */
  readonly awayForMs: number | null;
  /** Duration of the last answered ping in milliseconds; null if there was none. */
  readonly pingMs: number | null;
  /**
   * Pings at once with a small write, because an operation has failed. It decides nothing itself:
   * the store may have failed at this operation only, or may have no room.
   */
  doubt(): void;
  /** Pings for the first time, then every second. Returns false if the store is unavailable. */
  start(): Promise<boolean>;
  /** Ends the pings. */
  stop(): void;
}

/** Time from the end of a ping to the next one. */
const PING_INTERVAL_MS = 1_000;

/** Time between two log lines while the store is unavailable. */
const REMINDER_INTERVAL_MS = 60_000;

/** Returns a watch over a store that counts as available. */
export function newAvailabilityWatch(options: AvailabilityOptions): AvailabilityWatch {
  const { world, log } = options;
  let isUp = true;
  let pingMs: number | null = null;
  let since = 0;
  let logged = 0;
  let isStopped = false;
  let isChecking = false;
  /** True from a failed operation until the next ping. */
  let isDoubted = false;
  let cancel = () => {};

  function unanswered() {
    if (!isUp) return;
    isUp = false;
    since = logged = world.now();
    log.error(
      "the state store is unavailable: requests that need it get 503 state_unavailable until it answers",
    );
  }

  function answered() {
    if (isUp) return;
    isUp = true;
    log.info(`the state store is available again after ${seconds(world.now() - since)}`);
  }

  function remind() {
    const now = world.now();
    if (isUp || now - logged < REMINDER_INTERVAL_MS) return;
    logged = now;
    log.warn(
      `the state store has been unavailable for ${seconds(now - since)}; ` +
        `writes that wait for it: ${options.waiting()}`,
    );
  }

  async function check() {
    cancel();
    isChecking = true;
    const began = world.now();
    const doesWrite = isDoubted || !isUp || options.waiting() > 0;
    isDoubted = false;
    const ping = await options.ping(doesWrite);
    if (isStopped) return;
    options.onTick();
    if (ping.ok) {
      pingMs = world.now() - began;
      answered();
      await options.onAnswer();
    } else {
      unanswered();
      remind();
    }
    isChecking = false;
    schedule();
  }

  function schedule() {
    if (!isStopped) cancel = world.after(PING_INTERVAL_MS, () => void check());
  }

  return {
    get isUp() {
      return isUp;
    },
    get awayForMs() {
      return isUp ? null : world.now() - since;
    },
    get pingMs() {
      return pingMs;
    },
    doubt() {
      isDoubted = true;
      if (isUp && !isChecking && !isStopped) void check();
    },
    async start() {
      await check();
      return isUp;
    },
    stop() {
      isStopped = true;
      cancel();
    },
  };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
