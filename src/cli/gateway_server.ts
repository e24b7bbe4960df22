import type { Config } from "../config/schema.ts";
import { realWorld } from "../core/time.ts";
import { VERSION } from "../core/version.ts";
import type { World } from "../core/world.ts";
import { compile } from "../gateway/compile.ts";
import type { Generation } from "../gateway/generation.ts";
import { newGateway } from "../gateway/gateway.ts";
import { accessLog } from "../observe/access_log.ts";
import { type Log, newLog } from "../observe/log.ts";
import { createApp } from "../server/app.ts";
import { firstCall } from "./first_call.ts";
import { listen, type Listening } from "./listen.ts";
import { routeLine, writtenRoutes } from "./route_text.ts";
import type { Terminal } from "./terminal.ts";

/** A gateway that serves, or why it does not. */
export type GatewayServer =
  | {
    readonly ok: true;
    readonly url: string;
    readonly generation: Generation;
    readonly log: Log;
    readonly world: World;
    /** Takes no more requests, waits for those that run and lets go of everything. */
    close(): Promise<void>;
  }
  | Extract<Listening, { readonly ok: false }>;

/** Serves a configuration at the address that it names. */
export function openGateway(config: Config, terminal: Terminal): GatewayServer {
  const { isColoured } = terminal;
  const log = newLog({ ...config.logging, isColoured }, (line) => terminal.err(line));
  const generation = compile(config, 1);
  const world = realWorld();
  const app = createApp(newGateway(generation, world, [accessLog(log)]));
  const listening = listen(app, config.server.host, config.server.port);
  if (!listening.ok) {
    world.close();
    return listening;
  }
  if (listening.note !== null) log.debug(listening.note);
  const warning = runtimeWarning(Deno.version.deno);
  if (warning !== null) log.warn(warning);
  return {
    ok: true,
    url: listening.url,
    generation,
    log,
    world,
    async close() {
      await listening.close();
      world.close();
    },
  };
}

/** What a user wants to know first: the address, the routes and a call to try. */
export function greeting(url: string, generation: Generation): string {
  const routes = writtenRoutes(generation).map(({ route, match }) =>
    `  ${routeLine(route, match)}`
  );
  return [
    `Switchyard ${VERSION} listens on ${url}`,
    "",
    "Routes, of which the first that matches takes a request:",
    ...routes,
    "",
    "The first call to try:",
    firstCall(generation, url).replace(/^/gm, "  "),
    "",
    "",
  ].join("\n");
}

/** What is wrong with this version of Deno; null when nothing is known. */
export function runtimeWarning(version: string): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 8)
    ? `Deno ${version} does not report a client that leaves during a larger JSON call; use 2.7.11`
    : null;
}
