import type { Config } from "../config/schema.ts";
import { bugText } from "../core/failure/bug_text.ts";
import type { World } from "../core/world.ts";
import { coalesced } from "../observe/coalesced.ts";
import type { Log } from "../observe/log.ts";
import type { Handed } from "./handed.ts";
import type { WorkerProcess } from "./process.ts";
import { newSlot, type Slot, type SlotDeps } from "./slot.ts";
import { addMetrics, metricsText, type MetricValues } from "../observe/worker_metrics.ts";

/**
 * Time beyond `drain_delay` and `drain_timeout` after which a worker is killed: it then sends its
 * last data.
 */
const DRAIN_MARGIN_MS = 30_000;

/** Process functions that a group of workers needs. */
export interface GroupDeps {
  readonly world: Pick<World, "after" | "now">;
  readonly log: Log;
  readonly workers: number;
  readonly port: number;
  readonly instanceId: string;
  readonly isColoured: boolean;
  /** Starts the process of the worker with this number. */
  spawn(worker: number): WorkerProcess;
  /** Returns the metrics of the parent itself. */
  ownMetrics(): Promise<MetricValues>;
  restarted(): void;
  /** Returns what is handed to a worker that starts. */
  handed(): readonly Handed[];
  readonly demand: SlotDeps["demand"];
}

/** The workers of one gateway, all with one configuration. */
export type Group = ReturnType<typeof newGroup>;

/** Returns a group that is not started yet; `first` is its configuration. */
export function newGroup(first: Config, deps: GroupDeps) {
  const { world, log, workers, port, instanceId, isColoured } = deps;
  let config = first;
  let generation = 1;
  let retained: MetricValues = [];
  let adding: Promise<unknown> = Promise.resolve();
  const failure = Promise.withResolvers<string>();
  const scrape = coalesced(() => gather().catch(logBug));

  const slots = Array.from({ length: workers }, (_, index): Slot => {
    const number = index + 1;
    return newSlot(number, {
      world,
      log,
      spawn: deps.spawn,
      startMessage: () => ({
        kind: "start",
        place: { number, workers },
        port,
        generation,
        instanceId,
        isColoured,
        config,
        handed: deps.handed(),
      }),
      scrape,
      demand: deps.demand,
      retain(metrics) {
        adding = adding.then(async () => {
          retained = await addMetrics([retained, metrics]);
        }).catch(logBug);
      },
      restarted: deps.restarted,
      onHopeless: failure.resolve,
    });
  });

  async function gather(): Promise<string> {
    await Promise.all(slots.map((slot) => slot.measure()));
    const own = await deps.ownMetrics();
    // The metrics of a process that ends meanwhile are in neither list until they are added.
    for (let awaited = null; awaited !== adding;) {
      awaited = adding;
      await awaited;
    }
    return await metricsText([own, retained, ...slots.map((slot) => slot.metrics())]);
  }

  /** Logs the error: the parent must not end because of its metrics. */
  function logBug(error: unknown): null {
    log.error("metrics of workers could not be added; this is a bug", { at: bugText(error) });
    return null;
  }

  function killAll(): void {
    for (const slot of slots) slot.kill();
  }

  async function drain(): Promise<void> {
    const { drain_delay, drain_timeout } = config.server;
    const ended = Promise.all(slots.map((slot) => slot.drain()));
    const cancel = world.after(drain_delay + drain_timeout + DRAIN_MARGIN_MS, () => {
      log.warn("workers were killed: they did not end after server.drain_timeout");
      killAll();
    });
    await ended;
    cancel();
  }

  return {
    /**
     * Starts all workers. Resolves with null when all listen, else with the problem; then all have
     * ended.
     */
    async start(): Promise<string | null> {
      const starting = slots.map((slot) => slot.start());
      const problem = await new Promise<string | null>((resolve) => {
        for (const one of starting) void one.then((found) => found !== null && resolve(found));
        void Promise.all(starting).then(() => resolve(null));
      });
      if (problem === null) return null;
      const ended = Promise.all(slots.map((slot) => slot.drain()));
      killAll();
      await ended;
      return problem;
    },
    /** Returns the number of workers that accept requests. */
    listening: (): number => slots.filter((slot) => slot.isListening()).length,
    /** Hands a configuration to all workers; also those that start later get it. */
    reload(next: Config): void {
      config = next;
      generation++;
      for (const slot of slots) slot.send({ kind: "reload", config: next });
    },
    /** Hands something that the parent has fetched to all workers. */
    hand(handed: Handed): void {
      for (const slot of slots) slot.send(handed);
    },
    /** Drains all workers; resolves when they have ended. */
    drain,
    /** Kills all processes. */
    kill: killAll,
    /** Resolves with the reason when a worker fails at each start. */
    failed: failure.promise,
  };
}
