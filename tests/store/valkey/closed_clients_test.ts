import { assertEquals } from "../../support/assert.ts";
import { freePort, until } from "../../support/valkey_server.ts";
import { newTestConnection, PATIENT_TIMEOUT_MS, valkeySettings } from "./connections.ts";

// The sanitizers of a test find a timer or a connection that outlasts a client.

/** Returns a connection by sentinels of which none answers. */
async function sentinelConnection() {
  const sentinels = [1, 2, 3].map(() => `127.0.0.1:${freePort()}`);
  const settings = valkeySettings("valkey://main", { sentinels, master: "main" });
  return await newTestConnection(settings);
}

Deno.test("a client that is closed during a request to an unavailable sentinel leaves nothing", async () => {
  const { connection } = await sentinelConnection();
  const opened = connection.open(PATIENT_TIMEOUT_MS);
  await connection.close();
  assertEquals(await opened, false);
});

Deno.test("a client that is closed after all sentinels were unavailable leaves nothing", async () => {
  const { connection, log } = await sentinelConnection();
  const opened = connection.open(PATIENT_TIMEOUT_MS);
  await until(() => log.lines.length > 0);
  await connection.close();
  assertEquals(await opened, false);
});

/** A node that has all slots of a cluster. */
interface ClusterNode {
  readonly port: number;
  /** Number of requests for the slots. */
  requestsCount(): number;
  /** Answers the second request for the slots, and all that follow. */
  release(): void;
  close(): Promise<void>;
}

/** Starts a node that answers the first request for the slots only, until it is released. */
function startClusterNode(): ClusterNode {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const released = Promise.withResolvers<void>();
  const slots = `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:${port}\r\n`;
  const serving: Promise<void>[] = [];
  let requestsCount = 0;

  async function replyTo(command: string): Promise<string> {
    if (command.startsWith("cluster\r\n$5\r\nSLOTS")) {
      if (++requestsCount > 1) await released.promise;
      return slots;
    }
    if (command.startsWith("cluster\r\n$4\r\nINFO")) return "$16\r\ncluster_state:ok\r\n";
    return command.startsWith("info") ? "$9\r\nloading:0\r\n" : "+OK\r\n";
  }

  async function serve(connection: Deno.Conn): Promise<void> {
    using _ = connection;
    const buffer = new Uint8Array(4_096);
    for (;;) {
      const count = await connection.read(buffer);
      if (count === null) return;
      // Each command of the library begins with the number of its parts, and arrives whole.
      const commands = new TextDecoder().decode(buffer.subarray(0, count)).split(
        /\*\d+\r\n\$\d+\r\n/,
      );
      for (const command of commands.slice(1)) {
        await connection.write(new TextEncoder().encode(await replyTo(command)));
        if (command.startsWith("quit")) return;
      }
    }
  }

  const accepting = (async () => {
    for await (const connection of listener) serving.push(serve(connection).catch(() => {}));
  })();

  return {
    port,
    requestsCount: () => requestsCount,
    release: () => released.resolve(),
    async close() {
      listener.close();
      await accepting;
      await Promise.all(serving);
    },
  };
}

Deno.test("a client of a cluster that is closed during a request for the slots leaves nothing", async () => {
  const node = startClusterNode();
  const settings = valkeySettings(`valkey://127.0.0.1:${node.port}`, {
    cluster: true,
    timeout: PATIENT_TIMEOUT_MS,
  });
  const { connection } = await newTestConnection(settings);
  assertEquals(await connection.open(PATIENT_TIMEOUT_MS), true);
  await until(() => node.requestsCount() === 2);
  const closed = connection.close();
  node.release();
  await closed;
  assertEquals(node.requestsCount(), 2);
  await node.close();
});
