import { figure } from "./figures.ts";
import type { Processes } from "./processes.ts";
import { openSocketClient } from "./socket_client.ts";

/** What many sockets with slow readers do to a gateway. Memory in bytes. */
export interface Sockets {
  readonly sockets: number;
  /** Turns that were asked for, and those that were answered whole and in order. */
  readonly turns: number;
  readonly answered: number;
  readonly before: number;
  /** The largest that was seen. */
  readonly most: number;
  /** What was sent to all clients together. */
  readonly delivered: number;
}

/** A socket whose client does not read may cost so many bytes. */
export const MOST_A_SOCKET = 1.5 * 1024 * 1024;

const SOCKETS = 200, TURNS = 2;

/** Milliseconds in which nobody reads, between looks at the memory, and between reads of one client. */
const UNREAD = 3_000, LOOK = 100, PAUSE = 2;

/** Has clients ask for much on sockets that they first do not read at all, and then slowly. */
export async function sockets(
  servers: Processes,
  gatewayCore: number,
  upstreamCore: number,
): Promise<Sockets> {
  const upstream = await servers.start("socket_upstream.ts", "", upstreamCore);
  const { port } = await servers.start("gateway.ts", config(upstream.port), gatewayCore);
  const url = `http://127.0.0.1:${port}`;
  const memory = () => figure(url, "process_resident_memory_bytes");
  const before = await memory();
  const clients = await Promise.all(
    Array.from({ length: SOCKETS }, () => openSocketClient(port)),
  );
  for (const client of clients) {
    for (let turn = 0; turn < TURNS; turn++) await client.ask();
  }
  let most = before;
  let isOver = false;
  async function look() {
    while (!isOver) {
      most = Math.max(most, await memory());
      await pause(LOOK);
    }
  }
  const looking = look();
  await pause(UNREAD);
  const results = await Promise.all(
    clients.map((client) => client.read(TURNS, () => pause(PAUSE))),
  );
  isOver = true;
  await looking;
  for (const client of clients) client[Symbol.dispose]();
  return {
    sockets: SOCKETS,
    turns: SOCKETS * TURNS,
    answered: results.reduce((sum, { answered }) => sum + answered, 0),
    before,
    most,
    delivered: results.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** JSON is YAML too. */
function config(upstream: number): string {
  const base_url = `http://127.0.0.1:${upstream}/v1`;
  const target = { provider: "up", upstream_request_type: "responses" };
  return JSON.stringify({
    providers: { up: { type: "compat", base_url, api_key: "sk-bench" } },
    routing: { routes: [{ name: "main", targets: [target] }] },
    retry: { enabled: false },
  });
}
