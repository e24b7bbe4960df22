import { isDeepStrictEqual } from "node:util";
import type { Reloaded } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { NoteBook } from "../admin/notes.ts";
import type { Log } from "../observe/log.ts";

/** Part of a running gateway that a reload uses. */
export interface Reloadable {
  /** Current configuration. */
  readonly config: Config;
  readonly log: Log;
  /** Applies a configuration; returns descriptions of the changes. */
  reload(config: Config): readonly string[];
  /** Counts a reload that applied a change or was refused. */
  reloaded(result: "success" | "failure"): void;
  /** Problems and warnings of the last read file, for the admin page. */
  readonly notes: Pick<NoteBook, "refused" | "accepted">;
}

/** Source of the configuration. */
export interface Origin {
  read(): Promise<Reloaded>;
  /** Returns the configuration with the command-line arguments applied, which override the file. */
  override(config: Config): Config;
}

/** A configuration with its warnings. */
export interface Read {
  readonly config: Config;
  readonly warnings: readonly string[];
}

/**
 * Returns a reader that reads the configuration again, on request; `first` is the configuration at
 * start, whose warnings are logged.
 */
export function newReloader(gateway: Reloadable, origin: Origin, first: Read) {
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
      gateway.notes.refused(found.problems);
      log.error("configuration not reloaded: the previous one stays in use");
      return gateway.reloaded("failure");
    }
    for (const provider of found.leftOut) log.error("broken provider left out", { provider });
    const isSame = isDeepStrictEqual(found.config, latest);
    // A change of a key without effect changes only the warnings.
    if (!isSame || !isDeepStrictEqual(found.warnings, warned)) {
      for (const warning of found.warnings) log.warn(warning);
    }
    warned = found.warnings;
    const noted = [...found.problems, ...leftOutLines(found.leftOut), ...found.warnings];
    const { config, waiting } = applicable(gateway.config, found.config, latest, origin);
    const waitingLines = waiting.map((key) => `${key} has changed: it needs a restart`);
    gateway.notes.accepted([...noted, ...waitingLines]);
    if (isSame) return log.debug("configuration unchanged");
    latest = found.config;
    for (const line of waitingLines) log.warn(line);
    const changes = gateway.reload(config);
    gateway.reloaded("success");
    log.info("configuration reloaded", { changes: changes.join("; ") || "none" });
  }

  return {
    /**
     * Requests a reload; resolves when the current file has been read. A running reload is
     * repeated.
     */
    request(): Promise<void> {
      isWanted = true;
      running ??= work();
      return running;
    },
  };
}

function leftOutLines(leftOut: readonly string[]): readonly string[] {
  return leftOut.map((provider) => `broken provider left out: ${provider}`);
}

/**
 * Returns the configuration that a running gateway can apply, and the changed keys that need a
 * restart.
 */
function applicable(running: Config, file: Config, before: Config, { override }: Origin) {
  const next = override(file);
  const { server, telemetry, observability, state, admin } = running;
  const { format } = running.logging;
  // The log level of an argument applies until the level in the file changes.
  const isSame = file.logging.level === before.logging.level;
  const level = isSame ? running.logging.level : file.logging.level;
  const record = applicableRecord(running.record, next.record);
  const waiting = [
    ...changedKeys("server", server, next.server),
    ...changedKeys("logging", { format }, { format: next.logging.format }),
    ...changedKeys("telemetry", telemetry, next.telemetry),
    ...changedKeys("observability", observability, next.observability),
    ...changedKeys("state", state, next.state),
    ...changedKeys("admin", admin, next.admin),
    ...changedKeys("record", record, next.record),
  ];
  const logging = { level, format };
  const fixed = { server, telemetry, observability, state, admin, record, logging };
  return { config: { ...next, ...fixed }, waiting };
}

/**
 * Returns the settings of records that a running gateway can apply: it has given up the right to
 * open a file, so recording can only be turned off.
 */
function applicableRecord(running: Config["record"], next: Config["record"]): Config["record"] {
  return { ...next, path: running.path, enabled: running.enabled && next.enabled };
}

function changedKeys(section: string, before: object, after: object): string[] {
  const old = new Map<string, unknown>(Object.entries(before));
  const next = new Map<string, unknown>(Object.entries(after));
  const keys = new Set([...next.keys(), ...old.keys()]);
  return [...keys].filter((key) => !isDeepStrictEqual(old.get(key), next.get(key)))
    .map((key) => `${section}.${key}`);
}
