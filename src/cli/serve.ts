import { readText } from "../config/files.ts";
import { load, type Loaded } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Level } from "../observe/log.ts";
import { type Given, portOf, valueOf } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  OK,
  tellProblems,
  USUAL_CONFIG,
  wrongUsage,
} from "./command.ts";
import { environmentConfig } from "./environment.ts";
import { greeting, openGateway } from "./gateway_server.ts";
import { fired } from "./listen.ts";
import type { Terminal } from "./terminal.ts";

const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];

/** `switchyard --config FILE`: serves until it is told to stop; then running work is finished first. */
export const serve: Command = {
  name: "",
  about: "A gateway for language-model APIs. Without a command it serves a configuration file.",
  options: {
    "config": CONFIG_OPTION,
    "log-level": { value: "LEVEL", about: "debug, info, warn or error; wins over the file." },
    "host": { value: "HOST", about: "The address to listen on; wins over the file." },
    "port": { value: "PORT", about: "The port to listen on; wins over the file." },
  },
  async run(given, terminal) {
    const wrong = wrongValue(given);
    if (wrong !== null) return wrongUsage(terminal, "", wrong);
    const loaded = await configFor(valueOf(given, "config"), terminal);
    if (!loaded.ok) return tellProblems(terminal, loaded.problems);
    return await serveUntilStopped(overridden(loaded.config, given), loaded.warnings, terminal);
  },
};

async function serveUntilStopped(
  config: Config,
  warnings: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const server = openGateway(config, terminal);
  if (!server.ok) return tellProblems(terminal, [server.trouble]);
  const stop = terminal.stop();
  for (const warning of warnings) server.log.warn(warning);
  terminal.out(greeting(server.url, server.generation));
  await fired(stop);
  server.log.info("stopping: running work is finished first, a second signal ends it");
  await server.close();
  return OK;
}

/** The named file, else the usual one, else what the environment offers. */
async function configFor(path: string | undefined, terminal: Terminal): Promise<Loaded> {
  if (path !== undefined) return await load(path, terminal.environment);
  const usual = await readText(USUAL_CONFIG);
  if (usual.ok || !usual.isMissing) return await load(USUAL_CONFIG, terminal.environment);
  const offer = await environmentConfig(terminal.environment);
  if (offer.loaded.ok) terminal.out(`${offer.about}\n\n`);
  return offer.loaded;
}

function wrongValue(given: Given): string | null {
  const port = valueOf(given, "port");
  if (port !== undefined && portOf(port) === null) {
    return "--port must be a number from 0 to 65535.";
  }
  const level = valueOf(given, "log-level");
  return level === undefined || LEVELS.some((one) => one === level)
    ? null
    : "--log-level must be debug, info, warn or error.";
}

function overridden(config: Config, given: Given): Config {
  const { server, logging } = config;
  const level = LEVELS.find((one) => one === valueOf(given, "log-level")) ?? logging.level;
  const host = valueOf(given, "host") ?? server.host;
  const port = portOf(valueOf(given, "port") ?? "") ?? server.port;
  return { ...config, server: { ...server, host, port }, logging: { ...logging, level } };
}
