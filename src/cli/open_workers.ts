import { newNoteBook } from "../admin/notes.ts";
import { type Config, MAX_WORKERS } from "../config/schema.ts";
import type { Generation } from "../call/generation.ts";
import { changesBetween } from "../gateway/changes.ts";
import { compile, compileCredentials } from "../gateway/compile.ts";
import { newLog } from "../observe/log.ts";
import { newParentMetrics } from "../observe/worker_metrics.ts";
import { type Group, newGroup } from "../workers/group.ts";
import { ownAbilities, startWorker, workersObstacle } from "../workers/process.ts";
import { newHandOver } from "./hand_over.ts";
import { withinFirstKeys } from "../gateway/key_refresh.ts";
import { newRealWorld } from "./real_world.ts";
import { findPort, type Listening } from "./listen.ts";
import type { Reloadable } from "./reload.ts";
import type { Terminal } from "./terminal.ts";

/**
 * A gateway whose requests are served by this process or by workers, or the reason why it cannot
 * start.
 */
export type OpenedWorkers =
  | Reloadable & {
    readonly ok: true;
    readonly url: string;
    /** Address of the admin page, which workers do not have; null while it is off. */
    readonly adminUrl: string | null;
    /** The first generation. */
    readonly generation: Generation;
    /** Resolves with the reason if the gateway cannot go on; null if a single process serves. */
    readonly failed: Promise<string> | null;
    /** Kills all workers, also those that do not respond and would outlive this process. */
    kill(): void;
    /** Drains the gateway and releases all resources. */
    close(): Promise<void>;
  }
  | Extract<Listening, { readonly ok: false }>;

/** Returns the number of processes that serve requests. */
export function workerCount({ server }: Config): number {
  return server.workers === "auto"
    ? Math.min(MAX_WORKERS, navigator.hardwareConcurrency)
    : server.workers;
}

/**
 * Serves a configuration in several worker processes on one port. This process serves no requests:
 * it restarts workers, hands configurations to them and adds their metrics together.
 */
export async function openWorkers(
  config: Config,
  workers: number,
  terminal: Terminal,
): Promise<OpenedWorkers> {
  const obstacle = workersObstacle(ownAbilities());
  if (obstacle !== null) return { ok: false, isTaken: false, trouble: obstacle };
  const found = findPort(config.server.host, config.server.port);
  if (!found.ok) return found;
  using held = found;
  terminal.dropWriteAccess();
  const { format } = config.logging;
  const { isColoured } = terminal;
  let current = config;
  const log = newLog({
    get level() {
      return current.logging.level;
    },
    format,
    isColoured,
  }, terminal.err);
  const world = newRealWorld();
  const metrics = newParentMetrics(
    config.observability.key_labels,
    (): number => group.listening(),
  );
  const first = compile(config, 1);
  let { credentials } = first;
  const handOver = newHandOver({
    world,
    log,
    variable: (name) => terminal.environment[name],
    credentialRefreshed: metrics.credentialRefreshed,
    keysRefreshed: metrics.keysRefreshed,
    hand: (handed) => group.hand(handed),
  });
  const group: Group = newGroup(config, {
    world,
    log,
    workers,
    port: held.port,
    instanceId: world.uuid(),
    isColoured,
    spawn: (worker) =>
      startWorker({
        line: terminal.err,
        dropped: (chars) =>
          log.warn("a log line of a worker was dropped: it is longer than 1 MiB", {
            worker,
            chars,
          }),
      }),
    ownMetrics: metrics.values,
    restarted: metrics.restarted,
    handed: handOver.all,
    demand: handOver.demand,
  });
  await withinFirstKeys(handOver.apply(config, credentials), world);
  const problem = await group.start();
  if (problem !== null) {
    await handOver.close();
    world.close();
    return { ok: false, isTaken: false, trouble: problem };
  }
  log.info("workers listen", { workers });
  return {
    ok: true,
    url: held.url,
    adminUrl: null,
    notes: newNoteBook(() => world.wall()),
    generation: first,
    failed: group.failed,
    log,
    get config() {
      return current;
    },
    reload(next) {
      const previous = current;
      current = next;
      credentials = compileCredentials(next, credentials);
      group.reload(next);
      void handOver.apply(next, credentials);
      return changesBetween(previous, next);
    },
    reloaded: metrics.reloaded,
    kill: group.kill,
    async close() {
      await group.drain();
      await handOver.close();
      world.close();
    },
  };
}
