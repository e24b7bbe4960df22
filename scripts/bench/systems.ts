import { findInPath } from "../tools/find_in_path.ts";
import { findValkeyBinary } from "../tools/valkey_binary.ts";
import { type ConfigName, configText } from "./configs.ts";
import { nginxConfigText } from "./nginx.ts";
import { freePort, type ServerProcess, type ServerProcesses, sumOf } from "./processes.ts";
import type { Scenario, SystemName } from "./scenarios.ts";

/** The core of measured servers, and that of load, upstream and stores. */
export const MEASURED_CORE_INDEX = 0, LOAD_CORE_INDEX = 1;

/** Further cores for a second gateway and for nginx, where the machine has them. */
const REPLICA_CORE_INDEX = navigator.hardwareConcurrency > 2 ? 2 : MEASURED_CORE_INDEX;
const PROXY_CORE_INDEX = navigator.hardwareConcurrency > 3 ? 3 : LOAD_CORE_INDEX;

/** A system under load, or the reason why this machine cannot start it. */
export type System =
  | { readonly kind: "started"; readonly process: ServerProcess }
  | { readonly kind: "missing"; readonly reason: string };

/** The systems of the selected scenarios. */
export interface Systems {
  /** The address of the upstream. */
  readonly upstream: string;
  /** Returns a system; fails if no selected scenario uses it. */
  get(name: SystemName): System;
}

/** Systems that are no gateways, whose argument is the URL of the upstream. */
type BareName = "floor" | "least" | "least-translate";

function isBare(name: SystemName): name is BareName {
  return name === "floor" || name === "least" || name === "least-translate";
}

/** How a system is started. */
interface Recipe {
  readonly config: ConfigName;
  readonly store: "memory" | "sqlite" | "valkey";
  /** The number of gateways behind nginx; null for one gateway without nginx. */
  readonly replicas: number | null;
}

function recipeOf(name: Exclude<SystemName, BareName>): Recipe {
  switch (name) {
    case "sqlite":
    case "valkey":
      return { config: "one", store: name, replicas: null };
    case "record":
      return { config: "one", store: "memory", replicas: null };
    case "limited-valkey":
      return { config: "limited", store: "valkey", replicas: null };
    case "nginx-1":
      return { config: "limited", store: "valkey", replicas: 1 };
    case "nginx-2":
      return { config: "limited", store: "valkey", replicas: 2 };
    default:
      return { config: name, store: "memory", replicas: null };
  }
}

/** Encryption key of a gateway that records calls: 32 bytes in base64. */
const RECORD_KEY = "A".repeat(43);

function recordSettings(folder: string) {
  return { enabled: true, calls: "all", path: `${folder}/record.db` };
}

/** Starts the upstream and all systems that the scenarios compare. Their files are in `folder`. */
export async function startSystems(
  servers: ServerProcesses,
  selected: readonly Scenario[],
  folder: string,
): Promise<Systems> {
  const { port } = await servers.start("upstream.ts", "", LOAD_CORE_INDEX);
  const upstream = `http://127.0.0.1:${port}`;
  const stateServer: System = needsStateServer(selected)
    ? await startStateServer(servers)
    : { kind: "missing", reason: "no scenario needs a Valkey server" };
  const systems = new Map<SystemName, System>();

  async function startSystem(name: SystemName): Promise<System> {
    if (isBare(name)) {
      const path = name === "least-translate" ? "messages" : "chat/completions";
      const program = name === "floor" ? "floor.ts" : "least.ts";
      return started(await servers.start(program, `${upstream}/v1/${path}`, MEASURED_CORE_INDEX));
    }
    const { config, store, replicas } = recipeOf(name);
    if (store === "valkey" && stateServer.kind === "missing") return stateServer;
    const text = configText(config, upstream, {
      store,
      sqlite: { path: `${folder}/${name}.db` },
      valkey: {
        prefix: name,
        ...stateServer.kind === "started" ? { url: urlOf(stateServer) } : {},
      },
      ...name === "record" && { encryption_keys: [RECORD_KEY] },
    }, name === "record" ? { record: recordSettings(folder) } : {});
    return replicas === null
      ? started(await servers.start("gateway.ts", text, MEASURED_CORE_INDEX))
      : await startBehindNginx(servers, text, { replicas, folder: `${folder}/${name}` });
  }

  for (const name of new Set(selected.flatMap(({ base, measured }) => [base, measured]))) {
    systems.set(name, await startSystem(name));
  }
  return {
    upstream,
    get(name) {
      const system = systems.get(name);
      if (system === undefined) throw new Error(`The system ${name} was not started.`);
      return system;
    },
  };
}

function started(process: ServerProcess): System {
  return { kind: "started", process };
}

/** Returns the address of a started Valkey server. */
export function urlOf({ process }: Extract<System, { kind: "started" }>): string {
  return `valkey://127.0.0.1:${process.port}/0`;
}

function needsStateServer(selected: readonly Scenario[]): boolean {
  return selected.flatMap(({ base, measured }) => [base, measured])
    .some((name) => !isBare(name) && recipeOf(name).store === "valkey");
}

/** Starts one Valkey server for all systems that use one. */
export async function startStateServer(servers: ServerProcesses): Promise<System> {
  const binary = await findValkeyBinary();
  if (binary.kind === "missing") return binary;
  const port = freePort();
  const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  return started(await servers.startInstalled(binary.path, args, port, LOAD_CORE_INDEX));
}

/** Starts gateways with the same configuration, and nginx in front of them. */
async function startBehindNginx(
  servers: ServerProcesses,
  config: string,
  { replicas, folder }: { readonly replicas: number; readonly folder: string },
): Promise<System> {
  const nginx = findInPath(["nginx"]);
  if (nginx === null) return { kind: "missing", reason: "there is no nginx in the path" };
  const gateways: ServerProcess[] = [];
  for (let at = 0; at < replicas; at++) {
    const core = at === 0 ? MEASURED_CORE_INDEX : REPLICA_CORE_INDEX;
    gateways.push(await servers.start("gateway.ts", config, core));
  }
  const port = freePort();
  await Deno.mkdir(folder);
  await Deno.writeTextFile(
    `${folder}/nginx.conf`,
    nginxConfigText(port, gateways.map((gateway) => gateway.port), folder),
  );
  const args = ["-c", `${folder}/nginx.conf`, "-p", folder];
  await servers.startInstalled(nginx, args, port, PROXY_CORE_INDEX);
  return started({ port, cpuMs: () => sumOf(gateways.map((gateway) => gateway.cpuMs())) });
}
