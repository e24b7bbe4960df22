import type { World } from "../core/world.ts";
import type { Log } from "../observe/log.ts";
import {
  isHopeless,
  NO_RESTARTS,
  restartDelay,
  type Restarts,
  withEnd,
  type WorkerEnd,
} from "./backoff.ts";
import type { Demand, Handed } from "./handed.ts";
import { newLiveness } from "./liveness.ts";
import type { StartMessage, ToParent, ToWorker } from "./messages.ts";
import type { WorkerProcess } from "./process.ts";
import { lastingMetrics, type MetricValues } from "../observe/worker_metrics.ts";

/** Time limit of the start of a worker. */
const START_TIMEOUT_MS = 60_000;

/** Time that a worker has to end after it has closed its channel. */
const END_TIMEOUT_MS = 10_000;

/** Time limit of the metrics of a worker; later its last ones count. */
const MEASURE_TIMEOUT_MS = 2_000;

/** Dependencies of a slot. */
export interface SlotDeps {
  readonly world: Pick<World, "after" | "now">;
  readonly log: Log;
  /**
   * Starts the process of the worker with this number; throws if the program does not exist any
   * more.
   */
  spawn(worker: number): WorkerProcess;
  /** Returns the first message, with the configuration that is current when it is sent. */
  startMessage(): StartMessage;
  /** Returns the metrics of the whole gateway; null after a bug, which is logged. Never rejects. */
  scrape(): Promise<string | null>;
  /**
   * Refreshes what the worker demands. Resolves with what it is to be handed; null for nothing.
   */
  demand(demanded: Demand): Promise<Handed | null>;
  /** Receives the last metrics of an ended process that still count. */
  retain(metrics: MetricValues): void;
  restarted(): void;
  /** Receives the reason why the worker is not started again. */
  onHopeless(reason: string): void;
}

/** One worker of the gateway: a process, and the next one after it has ended. */
export type Slot = ReturnType<typeof newSlot>;

/** Returns a worker that is not started yet. */
export function newSlot(number: number, deps: SlotDeps) {
  const { world, log } = deps;
  let process: WorkerProcess | null = null;
  let listeningSince: number | null = null;
  let metrics: MetricValues = [];
  let restarts: Restarts = NO_RESTARTS;
  let hasListened = false;
  let isClosing = false;
  let cancelRestart = () => {};
  let measuring: PromiseWithResolvers<void> | null = null;
  const first = Promise.withResolvers<string | null>();
  const closed = Promise.withResolvers<void>();

  function start(): void {
    try {
      process = deps.spawn(number);
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown reason";
      return ended({ kind: "not_started" }, `cannot be started: ${reason}`);
    }
    process.channel.send(deps.startMessage());
    void follow(process);
  }

  async function follow(current: WorkerProcess): Promise<void> {
    let problem: string | null = null;
    const liveness = newLiveness({
      world,
      ping: () => current.channel.send({ kind: "ping" }),
      hung(reason) {
        problem = reason;
        current.kill();
      },
    });
    const cancelLimit = world.after(START_TIMEOUT_MS, () => {
      if (listeningSince === null) current.kill();
    });
    for await (const message of current.channel.received()) {
      liveness.heard();
      if (message.kind === "refused") ({ problem } = message);
      else received(current, message);
      if (message.kind === "listening") liveness.begin();
    }
    cancelLimit();
    liveness.end();
    const cancelEnd = world.after(END_TIMEOUT_MS, current.kill);
    const how = await current.ended;
    cancelEnd();
    await current.channel.close();
    const end: WorkerEnd = listeningSince === null
      ? { kind: "not_started" }
      : { kind: "served", ms: world.now() - listeningSince };
    process = null;
    listeningSince = null;
    measuring?.resolve();
    deps.retain(lastingMetrics(metrics));
    metrics = [];
    // A refusal at the first start is a mistake of the configuration or of the machine.
    if (problem !== null && !hasListened && !isClosing) return first.resolve(problem);
    ended(end, problem ?? how);
  }

  function received(current: WorkerProcess, message: Exclude<ToParent, { kind: "refused" }>): void {
    switch (message.kind) {
      case "listening":
        listeningSince = world.now();
        hasListened = true;
        log.debug("worker listens", { worker: number, pid: current.pid });
        return first.resolve(null);
      case "scrape":
        return void deps.scrape().then((text) => current.channel.send({ kind: "scraped", text }));
      case "demand":
        return void deps.demand(message.demanded).then((handed) => {
          if (handed !== null) current.channel.send(handed);
        });
      case "alive":
        return;
      case "measured":
      case "drained":
        ({ metrics } = message);
        return measuring?.resolve();
    }
  }

  function ended(end: WorkerEnd, reason: string): void {
    if (isClosing) return closed.resolve();
    restarts = withEnd(restarts, end);
    if (isHopeless(restarts)) {
      const text = `worker ${number} does not start; its last end: ${reason}`;
      first.resolve(text);
      return deps.onHopeless(text);
    }
    const delay = restartDelay(restarts);
    log.warn("worker ended; it is started again", { worker: number, reason, delay_ms: delay });
    deps.restarted();
    cancelRestart = world.after(delay, start);
  }

  return {
    /** Starts the first process. Resolves with null when it listens, else with the problem. */
    start(): Promise<string | null> {
      start();
      return first.promise;
    },
    isListening: (): boolean => listeningSince !== null,
    /**
     * Sends a message to the running process; one that does not read is killed, and started again.
     */
    send(message: ToWorker): void {
      if (process !== null && !process.channel.send(message)) process.kill();
    },
    /**
     * Returns the metrics of the running process, newer than the request unless it does not
     * respond.
     */
    async measure(): Promise<void> {
      if (process === null || listeningSince === null) return;
      if (measuring === null) {
        const current = measuring = Promise.withResolvers<void>();
        this.send({ kind: "measure" });
        current.promise.then(() => {
          if (measuring === current) measuring = null;
        });
      }
      const late = Promise.withResolvers<void>();
      const cancel = world.after(MEASURE_TIMEOUT_MS, late.resolve);
      await Promise.race([measuring.promise, late.promise]);
      cancel();
    },
    metrics: (): MetricValues => metrics,
    /** Starts no more processes, and drains the running one; resolves when it has ended. */
    drain(): Promise<void> {
      isClosing = true;
      cancelRestart();
      if (process === null) closed.resolve();
      else this.send({ kind: "drain" });
      return closed.promise;
    },
    kill: (): void => process?.kill(),
  };
}
