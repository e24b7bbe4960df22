import { configText } from "./configs.ts";
import type { LocalServer, ServerProcesses } from "./processes.ts";

/** Path of the chat requests that the rows of the tail send. */
export const CHAT = "/v1/chat/completions";

/** Indexes of the processor cores of the measured servers and of their provider. */
export interface Cores {
  readonly core: number;
  readonly upstreamCore: number;
}

/** A scripted provider, and the floor and the gateway over it on one core. */
export interface Compared {
  readonly upstream: LocalServer;
  readonly floor: LocalServer;
  readonly gateway: LocalServer;
}

/** Starts the systems that the rows of the tail compare in turns. */
export async function startCompared(
  servers: ServerProcesses,
  { core, upstreamCore }: Cores,
): Promise<Compared> {
  const upstream = await servers.start("upstream.ts", "", upstreamCore);
  const address = `http://127.0.0.1:${upstream.port}`;
  const floor = await servers.start("floor.ts", `${address}${CHAT}`, core);
  const gateway = await servers.start("gateway.ts", configText("one", address), core);
  return { upstream, floor, gateway };
}
