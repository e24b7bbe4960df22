import type { Owner } from "../../../src/store/bindings.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import {
  freePort,
  startValkeyServer,
  until,
  type ValkeyServer,
  valkeyTest,
} from "../../support/valkey_server.ts";
import { exercise } from "./exercise.ts";
import { openTestStore } from "./stores.ts";

const OWNER: Owner = { provider: "p", account: "a", origin: null, creator: null };

/**
 * Starts a sentinel that decides alone about the primary on a port. Its configuration is a file.
 */
async function startSentinel(primary: number, folder: string): Promise<ValkeyServer> {
  const port = freePort();
  const file = `${folder}/sentinel-${port}.conf`;
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `sentinel monitor main 127.0.0.1 ${primary} 1`,
    "sentinel down-after-milliseconds main 300",
    "sentinel failover-timeout main 5000",
  ];
  await Deno.writeTextFile(file, lines.join("\n"));
  return await startValkeyServer({ port, file, args: ["--sentinel"] });
}

valkeyTest(
  "after a failover by a sentinel the store continues at the new primary",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "switchyard-sentinel-" });
    const primary = await startValkeyServer();
    const replica = await startValkeyServer({
      args: ["--replicaof", "127.0.0.1", `${primary.port}`, "--repl-diskless-sync-delay", "0"],
    });
    await until(async () =>
      String(await replica.command("INFO", "replication")).includes("master_link_status:up")
    );
    const sentinel = await startSentinel(primary.port, folder);
    await until(async () => {
      const replicas = await sentinel.command("SENTINEL", "replicas", "main");
      return Array.isArray(replicas) && replicas.length === 1;
    });
    const { store, log, close } = await openTestStore(primary.url, {
      valkey: {
        // The first one does not answer.
        sentinels: [`127.0.0.1:${freePort()}`, `127.0.0.1:${sentinel.port}`],
        master: "main",
      },
    });
    const { owners } = store.objects;
    await stored(owners.conversation.bind("c", OWNER));
    await until(async () => await replica.command("DBSIZE") === await primary.command("DBSIZE"));
    await primary.kill();
    await until(async () => (await owners.conversation.bind("d", OWNER)).ok);
    assertEquals(await stored(owners.conversation.findBinding("c")), {
      kind: "bound",
      owner: OWNER,
    });
    assertEquals(await replica.command("EXISTS", "{switchyard}:2:conversation_owner:f"), 1);
    assert(log.lines[0]?.startsWith("error: The state store at the primary main of 127.0.0.1:"));
    await close();
    for (const one of [replica, sentinel]) await one.close();
    await Deno.remove(folder, { recursive: true });
  },
);

valkeyTest(
  "a store in a cluster has all keys in one slot, and every operation succeeds",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "switchyard-cluster-" });
    const nodes = await Promise.all([1, 2, 3].map(async () => {
      const port = freePort();
      const bus = freePort();
      const args = ["--cluster-enabled", "yes", "--cluster-port", `${bus}`];
      const files = ["--dir", folder, "--cluster-config-file", `${folder}/nodes-${port}.conf`];
      return { bus, server: await startValkeyServer({ port, args: [...args, ...files] }) };
    }));
    const [first, ...others] = nodes;
    assert(first !== undefined);
    for (const [index, [from, to]] of [[0, 5460], [5461, 10922], [10923, 16383]].entries()) {
      await nodes[index]?.server.command("CLUSTER", "ADDSLOTSRANGE", `${from}`, `${to}`);
    }
    for (const { server, bus } of others) {
      await first.server.command("CLUSTER", "MEET", "127.0.0.1", `${server.port}`, `${bus}`);
    }
    await until(async () => {
      const infos = await Promise.all(nodes.map(({ server }) => server.command("CLUSTER", "INFO")));
      return infos.every((info) =>
        String(info).includes("cluster_state:ok") &&
        String(info).includes("cluster_known_nodes:3")
      );
    });
    const { store, log, close } = await openTestStore(first.server.url, {
      valkey: { cluster: true },
    });
    await exercise(store);
    const limits = { requests: null, tokensPerMinute: null, maxConcurrent: 1, budgets: [] };
    const decision = await store.quotas.admit([{ caller: "key a", limits }], "call");
    assertEquals(decision.kind, "admitted");
    const sizes = await Promise.all(nodes.map(({ server }) => server.command("DBSIZE")));
    assertEquals(sizes.filter((size) => size !== 0).length, 1);
    assert(await stored(store.purge()) > 0);
    const left = await Promise.all(nodes.map(({ server }) => server.command("DBSIZE")));
    assertEquals(left, [0, 0, 0]);
    assertEquals(log.lines, []);
    await close();
    for (const { server } of nodes) await server.close();
    await Deno.remove(folder, { recursive: true });
  },
);
