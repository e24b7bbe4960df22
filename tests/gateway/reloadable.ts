import { compile } from "../../src/gateway/compile.ts";
import { type Gateway, newGateway } from "../../src/gateway/gateway.ts";
import type { CallReport } from "../../src/observe/report.ts";
import { type App, createApp } from "../../src/server/app.ts";
import { configOf } from "../config/parse.ts";
import { type ScriptedWorld, scriptedWorld, type WorldScript } from "../support/world.ts";

/** A gateway in a scripted world, whose inside the test may use. */
export interface Reloadable {
  readonly world: ScriptedWorld;
  readonly gateway: Gateway;
  readonly app: App;
  /** Reports of the calls that are over, in order. */
  readonly reports: readonly Readonly<CallReport>[];
}

/** A gateway with this configuration. */
export function reloadable(config: string, script: WorldScript): Reloadable {
  const world = scriptedWorld(script);
  const reports: Readonly<CallReport>[] = [];
  const generation = compile(configOf(config), 1);
  const gateway = newGateway(generation, world, [(report) => void reports.push(report)]);
  return { world, gateway, app: createApp(gateway), reports };
}
