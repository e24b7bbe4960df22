// Until `Deno.serve` has timeouts for idle and slow clients.

import type { World } from "../../core/world.ts";
import type { Sockets } from "../sockets.ts";
import { MAX_STEPS_PER_TURN, walk } from "../walk.ts";
import type { Connection } from "./connection.ts";
import type { IdleLimits } from "./idle_rules.ts";

/** Interval between two sweeps over all descriptors; shorter for shorter timeouts. */
const MAX_SWEEP_INTERVAL_MS = 5_000, MIN_SWEEP_INTERVAL_MS = 50;

/**
 * Interval between two looks at the process. A sweep follows at once if its resident memory has
 * grown by more than this since the last sweep, because bytes that arrive before a request are held
 * without it, or if a look is later than this: the runtime may serve a flood below requests.
 */
const LOOK_INTERVAL_MS = 50, MAX_UNSEEN_BYTES = 16 * 1024 * 1024, MAX_LATE_MS = 100;

/**
 * Descriptors that such a sweep looks at in one turn of the event loop: a turn in which connections
 * bring many bytes takes up to a second.
 */
const MAX_URGENT_STEPS = 4_096;

/** Time between two slices of a sweep that nothing waits for, in milliseconds. */
const SLICE_PAUSE_MS = 5;

/** Maximum descriptors per millisecond, which bounds the work of sweeps that follow each other. */
const MAX_DESCRIPTORS_PER_MS = 50;

/** Tasks of each look at the process, and of the steps of each sweep, in their order. */
interface SweepTasks {
  look(): void;
  begin(): void;
  visit(descriptor: number): void;
  /** Called after the last descriptor. Returns false if the next sweep follows at once. */
  visited(): boolean;
  /** Returns the known connections, each of which is reviewed then. */
  connections(): Iterator<Connection>;
  review(connection: Connection): void;
}

/** Sweeps over the descriptors of the process. */
export type Sweeps = ReturnType<typeof newSweeps>;

/**
 * Returns the sweeps over the descriptors of the process: one after each interval, and one at once
 * if the process shows that connections bring much. Each is divided among turns of the event loop.
 */
export function newSweeps(
  sockets: Pick<Sockets, "bound" | "residentBytes">,
  clock: Pick<World, "now" | "after">,
  limits: IdleLimits,
  tasks: SweepTasks,
) {
  const intervalMs = sweepInterval(limits);
  /** Tasks that wait for the end of a sweep. */
  const waiting: (() => void)[] = [];
  let isSweeping = false;
  /** True if the next sweep is early, and takes no pauses. */
  let isHurried = false;
  /** True if it has large slices too. */
  let isUrgent = false;
  let earliestMs = 0;
  let isClosed = false;
  let cancel = clock.after(intervalMs, sweep);
  /** The least resident memory since the last sweep began. */
  let residentBytes = sockets.residentBytes();
  let cancelLook = residentBytes > 0 ? clock.after(LOOK_INTERVAL_MS, look) : null;
  let lookedMs = clock.now();

  /** Schedules the next sweep early, to find the descriptor of a connection. */
  function soon() {
    if (isHurried || isClosed) return;
    isHurried = true;
    if (!isSweeping) plan();
  }

  function look() {
    cancelLook = clock.after(LOOK_INTERVAL_MS, look);
    const now = clock.now();
    tasks.look();
    const lateMs = now - lookedMs - LOOK_INTERVAL_MS;
    lookedMs = now;
    const bytes = sockets.residentBytes();
    if (bytes - residentBytes > MAX_UNSEEN_BYTES || lateMs > MAX_LATE_MS) {
      isUrgent = true;
      if (isSweeping || now < earliestMs) soon();
      else {
        cancel();
        sweep();
      }
    }
    residentBytes = Math.min(residentBytes, bytes);
  }

  function plan() {
    cancel();
    const ms = isHurried ? Math.max(0, earliestMs - clock.now()) : intervalMs;
    cancel = clock.after(ms, sweep);
  }

  function sweep() {
    tasks.begin();
    residentBytes = sockets.residentBytes();
    const pauseMs = isHurried || isUrgent ? 0 : SLICE_PAUSE_MS;
    const maxSteps = isUrgent ? MAX_URGENT_STEPS : MAX_STEPS_PER_TURN;
    isSweeping = true;
    isHurried = false;
    isUrgent = false;
    const later = (task: () => void) => {
      if (!isClosed) cancel = clock.after(pauseMs, task);
    };
    const bound = sockets.bound();

    function reviewAll() {
      if (!tasks.visited()) isHurried = isUrgent = true;
      const all = tasks.connections();
      const reviewNext = () => {
        const { done, value } = all.next();
        if (done !== true) tasks.review(value);
        return done !== true;
      };
      walk(Infinity, reviewNext, later, () => finish(bound), maxSteps);
    }

    walk(
      bound,
      (descriptor) => {
        tasks.visit(descriptor);
        return true;
      },
      later,
      reviewAll,
      maxSteps,
    );
  }

  function finish(bound: number) {
    isSweeping = false;
    earliestMs = clock.now() + bound / MAX_DESCRIPTORS_PER_MS;
    if (!isClosed) plan();
    for (const go of waiting.splice(0)) go();
  }

  return {
    soon,
    isUnderWay: (): boolean => isSweeping,
    /** Resolves at the end of the sweep that is under way, else of the next one. */
    ended: (): Promise<void> => new Promise((go) => void waiting.push(go)),
    close(): void {
      isClosed = true;
      cancel();
      cancelLook?.();
      for (const go of waiting.splice(0)) go();
    },
  };
}

function sweepInterval({ headMs, idleMs, writeMs }: IdleLimits): number {
  const ms = Math.min(headMs, idleMs, writeMs) / 4;
  return Math.min(MAX_SWEEP_INTERVAL_MS, Math.max(MIN_SWEEP_INTERVAL_MS, ms));
}
