import type { Fault } from "../core/failure.ts";
import { fault } from "../core/result.ts";
import type { World } from "../core/world.ts";
import type { Departure } from "../core/departure.ts";

/** How long an attempt may take. Milliseconds. */
export interface Patience {
  readonly timeout: number;
  /** `ttft`: until the first byte of the body; `total`: until its end. */
  readonly mode: "ttft" | "total";
  /** Longest silence between two reads of a stream; null: none is set. */
  readonly idle: number | null;
}

/** Watches over one attempt: its abort signal fires when the client goes or its time is up. */
export interface Watch {
  readonly signal: AbortSignal;
  /** A read of the body begins. */
  waits(): void;
  /** A read of the body gave bytes. */
  hears(): void;
  /** Why the transport was cut; null when it was not this watch. */
  readonly reason: Fault | null;
  /** The upstream is to stop; no reason is kept. */
  abort(): void;
  /** The attempt is over. */
  close(): void;
}

/** Starts the clock of one attempt, before anything is sent. */
export function startWatch(world: World, departure: Departure, patience: Patience): Watch {
  const controller = new AbortController();
  let reason: Fault | null = null;
  let heard = false;
  let waitingSince: number | null = null;
  let cancelIdle = () => {};
  const cancelTimeout = world.after(
    patience.timeout,
    () => cut("upstream_timeout", "The provider did not answer within its configured timeout."),
  );
  const stay = departure.onLeave(() => cut("client_cancelled", "The client has gone."));

  function cut(kind: "upstream_timeout" | "upstream_idle" | "client_cancelled", message: string) {
    reason ??= fault(kind, message).failure;
    controller.abort();
  }

  function watchIdle(idle: number, wait: number) {
    cancelIdle = world.after(wait, () => {
      // Silence counts only while a read waits: a slow client is not the upstream's fault.
      const silent = waitingSince === null ? 0 : world.now() - waitingSince;
      if (silent < idle) return watchIdle(idle, idle - silent);
      cut("upstream_idle", "The provider's stream was silent for too long.");
    });
  }

  return {
    signal: controller.signal,
    waits() {
      waitingSince = world.now();
    },
    hears() {
      waitingSince = null;
      if (heard) return;
      heard = true;
      if (patience.mode === "ttft") cancelTimeout();
      if (patience.idle !== null) watchIdle(patience.idle, patience.idle);
    },
    get reason() {
      return reason;
    },
    abort: () => controller.abort(),
    close() {
      cancelTimeout();
      cancelIdle();
      stay();
    },
  };
}
