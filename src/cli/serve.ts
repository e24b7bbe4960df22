import { readText } from "../config/files.ts";
import { load, type Loaded, reload } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { type ConfigWatch, watchConfig } from "../config/watch.ts";
import type { Level } from "../observe/log.ts";
import { optionValue, type OptionValues, parsePort } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  FAILED_STATUS,
  OK_STATUS,
  printProblems,
  USUAL_CONFIG,
  wrongUsage,
} from "./command.ts";
import { environmentConfig } from "./environment.ts";
import { greeting, openGateway } from "./gateway_server.ts";
import { stopped } from "./listen.ts";
import { type OpenedWorkers, openWorkers, workerCount } from "./open_workers.ts";
import { newReloader, type Reloadable } from "./reload.ts";
import type { Terminal } from "./terminal.ts";

const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];

/**
 * Default command `switchyard --config FILE`: serves until a stop signal, then finishes calls in
 * flight.
 */
export const serve: Command = {
  name: "",
  // Only until the state store is open.
  writesFiles: true,
  // Only with several workers.
  startsProcesses: true,
  about: "A gateway for language-model APIs. Without a command it serves a configuration file.",
  options: {
    "config": CONFIG_OPTION,
    "log-level": {
      value: "LEVEL",
      choices: LEVELS,
      about: "debug, info, warn or error; overrides the file until its level changes.",
    },
    "host": { value: "HOST", about: "The address to listen on; overrides the file." },
    "port": { value: "PORT", about: "The port to listen on; overrides the file." },
  },
  async run(values, terminal) {
    const wrong = wrongValue(values);
    if (wrong !== null) return wrongUsage(terminal, "", wrong);
    const path = optionValue(values, "config") ?? await usualFile();
    // The watch starts before the file is read, so that no change is missed.
    const watch = path === null ? null : watchConfig(path);
    const loaded = path === null ? await offered(terminal) : await load(path, terminal.environment);
    const code = loaded.ok
      ? await serveUntilStopped({ loaded, path, watch, values }, terminal)
      : printProblems(terminal, loaded.problems);
    await watch?.close();
    return code;
  },
};

interface Started {
  readonly loaded: Extract<Loaded, { readonly ok: true }>;
  /** Path of the file; null if the configuration comes from the environment. */
  readonly path: string | null;
  readonly watch: ConfigWatch | null;
  readonly values: OptionValues;
}

async function serveUntilStopped(started: Started, terminal: Terminal): Promise<number> {
  const { loaded, values } = started;
  const config = overridden(loaded.config, values);
  const server = await openServer(config, terminal);
  if (!server.ok) return printProblems(terminal, [server.trouble]);
  const stop = terminal.stop(() => server.kill());
  for (const warning of loaded.warnings) server.log.warn(warning);
  server.notes.accepted(loaded.warnings);
  const leave = follow(started, server, terminal);
  terminal.out(greeting(server.url, server.generation, server.adminUrl));
  const failing = server.failed === null ? [] : [server.failed];
  const failure = await Promise.race([stopped(stop), ...failing]);
  if (typeof failure === "string") server.log.error(failure);
  else server.log.info("stopping after the requests in flight; a second signal stops at once");
  await leave();
  await server.close();
  return typeof failure === "string" ? FAILED_STATUS : OK_STATUS;
}

/** Serves a configuration in this process, or in as many workers as it says. */
async function openServer(config: Config, terminal: Terminal): Promise<OpenedWorkers> {
  const workers = workerCount(config);
  if (workers > 1) return await openWorkers(config, workers, terminal);
  terminal.dropRunAccess();
  const server = await openGateway(config, terminal);
  return server.ok ? Object.assign(server, { failed: null, kill() {} }) : server;
}

/** Reloads the gateway when its file changes or on SIGHUP. Returns a function that ends this. */
function follow(
  { loaded, path, watch, values }: Started,
  server: Reloadable,
  terminal: Terminal,
): () => Promise<void> {
  const { log } = server;
  if (path === null) {
    const stay = terminal.onReload(() => log.info("there is no configuration file to reload"));
    return () => Promise.resolve(stay());
  }
  if (watch === null) log.warn("the configuration file cannot be watched; SIGHUP reloads it");
  const reloader = newReloader(server, {
    read: () => reload(path, terminal.environment),
    override: (config) => overridden(config, values),
  }, loaded);
  let latest = Promise.resolve();
  const request = () => void (latest = reloader.request());
  const stay = terminal.onReload(request);
  watch?.each(request);
  return async () => {
    stay();
    await watch?.close();
    await latest;
  };
}

/** Returns the default file; null if it does not exist. */
async function usualFile(): Promise<string | null> {
  const usual = await readText(USUAL_CONFIG);
  return usual.ok || !usual.isMissing ? USUAL_CONFIG : null;
}

async function offered(terminal: Terminal): Promise<Loaded> {
  const offer = await environmentConfig(terminal.environment);
  if (offer.loaded.ok) terminal.out(`${offer.about}\n\n`);
  return offer.loaded;
}

function wrongValue(values: OptionValues): string | null {
  const port = optionValue(values, "port");
  if (port !== undefined && parsePort(port) === null) {
    return "--port must be a number from 0 to 65535.";
  }
  const level = optionValue(values, "log-level");
  return level === undefined || LEVELS.some((one) => one === level)
    ? null
    : "--log-level must be debug, info, warn or error.";
}

function overridden(config: Config, values: OptionValues): Config {
  const { server, logging } = config;
  const level = LEVELS.find((one) => one === optionValue(values, "log-level")) ?? logging.level;
  const host = optionValue(values, "host") ?? server.host;
  const port = parsePort(optionValue(values, "port") ?? "") ?? server.port;
  return { ...config, server: { ...server, host, port }, logging: { ...logging, level } };
}
