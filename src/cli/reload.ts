import { isDeepStrictEqual } from "node:util";
import type { Reloaded } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Log } from "../observe/log.ts";

/** The running gateway, as far as a reload touches it. */
export interface Reloadable {
  /** What it serves with. */
  readonly config: Config;
  readonly log: Log;
  /** Serves this from now on; the result says what has changed. */
  reload(config: Config): readonly string[];
  /** Counts a reload that has taken a change or was refused. */
  reloaded(isTaken: boolean): void;
}

/** Where the configuration comes from. */
export interface Origin {
  read(): Promise<Reloaded>;
  /** What the arguments of the program say wins over the file. */
  override(config: Config): Config;
}

/** Reads the configuration again, on request. */
export interface Reloader {
  /** Resolves when what is there now has been read: once more when a reload runs already. */
  request(): Promise<void>;
}

/** A configuration with its warnings. */
export interface Read {
  readonly config: Config;
  readonly warnings: readonly string[];
}

/** Reloads a gateway; `first` is the file as it was read, and warned about, at the start. */
export function newReloader(gateway: Reloadable, origin: Origin, first: Read): Reloader {
  const { log } = gateway;
  let latest = first.config;
  let warned = first.warnings;
  let isWanted = false;
  let running: Promise<void> | null = null;

  async function work() {
    while (isWanted) {
      isWanted = false;
      await once();
    }
    running = null;
  }

  async function once() {
    const found = await origin.read();
    for (const problem of found.problems) log.error(problem);
    if (!found.ok) {
      log.error("configuration not reloaded: the running one stays");
      return gateway.reloaded(false);
    }
    for (const provider of found.leftOut) log.error("broken provider left out", { provider });
    const isSame = isDeepStrictEqual(found.config, latest);
    // A key without effect changes only the warnings.
    if (!isSame || !isDeepStrictEqual(found.warnings, warned)) {
      for (const warning of found.warnings) log.warn(warning);
    }
    warned = found.warnings;
    if (isSame) return log.debug("configuration unchanged");
    take(found.config);
  }

  function take(file: Config) {
    const { config, waiting } = applicable(gateway.config, file, latest, origin);
    latest = file;
    for (const key of waiting) log.warn(`${key} has changed: it needs a restart`);
    const changes = gateway.reload(config);
    gateway.reloaded(true);
    log.info("configuration reloaded", { changes: changes.join("; ") || "none" });
  }

  return {
    request() {
      isWanted = true;
      running ??= work();
      return running;
    },
  };
}

/** The part of a file that a running gateway can take, and the keys that wait for a restart. */
function applicable(running: Config, file: Config, before: Config, { override }: Origin) {
  const wanted = override(file);
  const { server, telemetry } = running;
  const { format } = running.logging;
  // The level that an argument asked for holds until the one in the file changes.
  const isSame = file.logging.level === before.logging.level;
  const level = isSame ? running.logging.level : file.logging.level;
  const waiting = [
    ...changedKeys("server", server, wanted.server),
    ...changedKeys("logging", { format }, { format: wanted.logging.format }),
    ...changedKeys("telemetry", telemetry, wanted.telemetry),
  ];
  return { config: { ...wanted, server, telemetry, logging: { level, format } }, waiting };
}

function changedKeys(section: string, before: object, after: object): string[] {
  const known = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).flatMap(([key, value]) =>
    isDeepStrictEqual(known.get(key), value) ? [] : [`${section}.${key}`]
  );
}
