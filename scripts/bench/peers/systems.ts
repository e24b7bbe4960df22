import { freePort, type ServerProcess, type ServerProcesses } from "../processes.ts";
import { MEASURED_CORE_INDEX, type System } from "../systems.ts";
import type { Peer, PeerUpstreamKind } from "./peer.ts";
import { reasonText } from "./reason.ts";

const INSTALL_COMMAND = "./scripts/deno run -A scripts/bench/peers/install.ts";

/** LiteLLM takes 20 s to start on a slow machine. */
const LISTEN_TIMEOUT_MS = 120_000;

/** The processes of peers, each started when it is first needed. */
export interface PeerSystems {
  get(peer: Peer, upstreamKind: PeerUpstreamKind): Promise<System>;
}

/**
 * Returns the processes of peers on the core of the measured gateways. Their files are in `folder`.
 */
export function newPeerSystems(
  servers: ServerProcesses,
  upstream: string,
  folder: string,
): PeerSystems {
  const started = new Map<string, Promise<System>>();
  return {
    get(peer, upstreamKind) {
      const name = `${upstreamKind} ${peer.name}`;
      const known = started.get(name);
      if (known !== undefined) return known;
      const ownFolder = `${folder}/peer-${started.size}`;
      const place = { port: freePort(), upstream, upstreamKind, folder: ownFolder };
      const starting = startPeer(servers, peer, place);
      started.set(name, starting);
      return starting;
    },
  };
}

async function startPeer(
  servers: ServerProcesses,
  peer: Peer,
  place: Parameters<Peer["launch"]>[0],
): Promise<System> {
  const { program, args, environment, files } = peer.launch(place);
  if (program.includes("/") && !(await exists(program))) {
    return { kind: "missing", reason: `it is not installed; ${INSTALL_COMMAND} installs it` };
  }
  await Deno.mkdir(place.folder);
  for (const [path, text] of Object.entries(files)) await Deno.writeTextFile(path, text);
  const logPath = `${place.folder}/output`;
  const settings = { environment, logPath, listenTimeoutMs: LISTEN_TIMEOUT_MS };
  try {
    const process: ServerProcess = await servers.startInstalled(
      program,
      args,
      place.port,
      MEASURED_CORE_INDEX,
      settings,
    );
    return { kind: "started", process };
  } catch (error) {
    const last = await lastLine(logPath);
    return {
      kind: "missing",
      reason: `it did not start (${last ?? (error instanceof Error ? error.message : error)})`,
    };
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/** Returns the last line of a file; null if it has none. */
async function lastLine(path: string): Promise<string | null> {
  const text = await Deno.readTextFile(path).catch(() => "");
  const line = reasonText(text.trim().split("\n").at(-1) ?? "");
  return line === "" ? null : line;
}
