import type { Failure } from "../core/failure.ts";
import { fault } from "../core/result.ts";
import type { World } from "../core/world.ts";
import type { Departure } from "../core/departure.ts";

/** How long an attempt may take. Milliseconds. */
export interface Patience {
  readonly timeout: number;
  /** `ttft`: until the first byte of the body; `total`: until its end. */
  readonly mode: "ttft" | "total";
  /** Longest silence between two reads of the body, from its first byte on; null: none is set. */
  readonly idle: number | null;
}

/** Watches over one attempt: its abort signal fires when the call is ended or its time is up. */
export interface Watch {
  /** Made when it is first asked for. */
  signal(): AbortSignal;
  /** A read of the body begins. */
  waits(): void;
  /** A read of the body gave bytes. */
  hears(): void;
  /** Why the transport was cut; null when it was not this watch. */
  reason(): Failure | null;
  /** The upstream is to stop; no reason is kept. */
  abort(): void;
  /** Runs the task when the transport is cut, at once when it has been; only the last one given. */
  onCut(task: () => void): void;
  /** The attempt is over. */
  close(): void;
}

/** Starts the clock of one attempt, before anything is sent. */
export function startWatch(world: World, departure: Departure, patience: Patience): Watch {
  let controller: AbortController | null = null;
  let isCut = false;
  let reason: Failure | null = null;
  let heard = false;
  let waitingSince: number | null = null;
  let whenCut = () => {};
  const { timeout, mode, idle } = patience;
  const end = world.now() + timeout;
  // One entry for both limits: most answers are over before it is looked at, and cost no second one.
  let checkAt = end;
  let cancelCheck = world.after(timeout, check);
  const stay = departure.onEnd(cut);

  function late(kind: "upstream_timeout" | "upstream_idle", message: string) {
    cut(fault(kind, message).failure);
  }

  function cut(failure: Failure) {
    reason ??= failure;
    abort();
  }

  function abort() {
    isCut = true;
    controller?.abort();
    whenCut();
  }

  /** The timeout holds until the first byte, or until the end. */
  function isTimed(): boolean {
    return !heard || mode === "total";
  }

  function check() {
    const now = world.now();
    if (isTimed() && now >= end) {
      return late("upstream_timeout", "The provider did not answer within its configured timeout.");
    }
    // Silence counts only while a read waits: a slow client is not the upstream's fault.
    const silent = heard && waitingSince !== null ? now - waitingSince : 0;
    if (idle !== null && silent >= idle) {
      return late("upstream_idle", "The provider was silent for too long within its answer.");
    }
    checkAgain(now, silent);
  }

  function checkAgain(now: number, silent: number) {
    cancelCheck();
    const silentAt = idle === null ? Infinity : now + idle - silent;
    checkAt = isTimed() ? Math.min(end, silentAt) : silentAt;
    if (checkAt < Infinity) cancelCheck = world.after(checkAt - now, check);
  }

  return {
    signal() {
      if (controller === null) {
        controller = new AbortController();
        if (isCut) controller.abort();
      }
      return controller.signal;
    },
    waits() {
      if (idle !== null) waitingSince = world.now();
    },
    hears() {
      waitingSince = null;
      if (heard) return;
      heard = true;
      if (idle === null) {
        if (mode === "ttft") cancelCheck();
        return;
      }
      const now = world.now();
      if (now + idle < checkAt) checkAgain(now, 0);
    },
    reason: () => reason,
    abort,
    onCut(task) {
      whenCut = task;
      if (isCut) task();
    },
    close() {
      cancelCheck();
      stay();
    },
  };
}
