import type { Failure } from "../core/failure.ts";
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
  let cancelIdle = () => {};
  let whenCut = () => {};
  const cancelTimeout = world.after(
    patience.timeout,
    () => late("upstream_timeout", "The provider did not answer within its configured timeout."),
  );
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

  function watchIdle(idle: number, wait: number) {
    cancelIdle = world.after(wait, () => {
      // Silence counts only while a read waits: a slow client is not the upstream's fault.
      const silent = waitingSince === null ? 0 : world.now() - waitingSince;
      if (silent < idle) return watchIdle(idle, idle - silent);
      late("upstream_idle", "The provider's stream was silent for too long.");
    });
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
      if (patience.idle !== null) waitingSince = world.now();
    },
    hears() {
      waitingSince = null;
      if (heard) return;
      heard = true;
      if (patience.mode === "ttft") cancelTimeout();
      if (patience.idle !== null) watchIdle(patience.idle, patience.idle);
    },
    reason: () => reason,
    abort,
    onCut(task) {
      whenCut = task;
      if (isCut) task();
    },
    close() {
      cancelTimeout();
      cancelIdle();
      stay();
    },
  };
}
