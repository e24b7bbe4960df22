import type { JsonObject } from "../../../src/core/json/json.ts";
import type { Owner } from "../../../src/store/bindings.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { startFaultProxy } from "../../support/fault_proxy.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";
import {
  freePort,
  sharedValkeyServer,
  startValkeyServer,
  until,
  valkeyTest,
} from "../../support/valkey_server.ts";
import { SHARING } from "../conformance/harness.ts";
import { newPrefix, openTestStore } from "./stores.ts";

const server = await sharedValkeyServer();

const OWNER: Owner = { provider: "p", account: "a", origin: null, creator: null };

function urlOf(port: number): string {
  return `valkey://127.0.0.1:${port}/0`;
}

function store({ objects }: StateStore, id: string, input: readonly JsonObject[] = []) {
  const snapshot = { resource: { id }, input };
  return objects.responses.store(id, { owner: OWNER, snapshot, isNative: false }, SHARING);
}

function find({ objects }: StateStore, id: string) {
  return objects.responses.find(id);
}

/** Waits until the store answers again. */
async function untilUp({ ping }: StateStore): Promise<void> {
  await until(async () => (await ping()).ok);
}

valkeyTest(
  "while the server is silent an operation fails, later ones at once, and afterwards they succeed",
  async () => {
    const proxy = startFaultProxy(server.port);
    const { store: valkey, log, close } = await openTestStore(urlOf(proxy.port), {
      valkey: { prefix: newPrefix() },
    });
    await stored(store(valkey, "r"));
    proxy.hold();
    assertEquals(await outcomeOf(find(valkey, "r")), "state_unavailable");
    assertEquals(await outcomeOf(valkey.ping()), "state_unavailable");
    proxy.pass();
    await untilUp(valkey);
    assertEquals((await stored(find(valkey, "r")))?.snapshot?.resource, { id: "r" });
    assertEquals(log.lines.length, 2, log.lines.join("\n"));
    await close();
    await proxy.close();
  },
);

valkeyTest(
  "a write whose reply was lost has one effect although it is repeated",
  async () => {
    const proxy = startFaultProxy(server.port);
    const { store: valkey, close } = await openTestStore(urlOf(proxy.port), {
      valkey: { prefix: newPrefix() },
    });
    const { conversations, responses } = valkey.objects;
    const conversation = { id: "c", creator: null, createdAt: 0, metadata: {}, items: [] };
    await stored(conversations.create(conversation));
    // The server knows the scripts from now on, so that the next requests execute them.
    await stored(store(valkey, "earlier"));
    await stored(conversations.append("c", [{ id: "earlier", type: "x" }]));
    const item = { id: "i", type: "x" };
    proxy.hold();
    const writes = [store(valkey, "r", [item]), conversations.append("c", [item])];
    assertEquals(await Promise.all(writes.map(outcomeOf)), [
      "state_unavailable",
      "state_unavailable",
    ]);
    proxy.pass();
    await untilUp(valkey);
    assertEquals((await stored(find(valkey, "r")))?.snapshot?.input, [item]);
    assertEquals(await stored(store(valkey, "r", [item])), { kind: "bound", owner: OWNER });
    assertEquals((await stored(find(valkey, "r")))?.snapshot?.input, [item]);
    assertEquals((await stored(responses.findItems(new Set(["i"])))).length, 1);
    // Made or not: an append reads the conversation before it changes it.
    const again = await outcomeOf(conversations.append("c", [item]));
    assert(again === "ok" || again === "duplicate_item_id", again);
    assertEquals((await stored(conversations.find("c")))?.items.length, 2);
    await close();
    await proxy.close();
  },
);

valkeyTest("after a restart without data objects are gone, and no operation fails", async () => {
  const own = await startValkeyServer();
  const { store: valkey, close } = await openTestStore(own.url);
  const item = { id: "i", type: "x" };
  await stored(store(valkey, "r", [item]));
  const history = (await stored(find(valkey, "r")))?.snapshot?.input ?? [];
  await own.kill();
  assertEquals(await outcomeOf(find(valkey, "r")), "state_unavailable");
  await own.restart();
  await untilUp(valkey);
  assertEquals(await stored(find(valkey, "r")), null);
  // Items that this process knows as stored are sent again.
  await stored(store(valkey, "next", history));
  assertEquals((await stored(find(valkey, "next")))?.snapshot?.input, [item]);
  await close();
  await own.close();
});

valkeyTest(
  "a connection that ends within a reply fails its operation and is made again",
  async () => {
    const proxy = startFaultProxy(server.port);
    const valkeySettings = { prefix: newPrefix() };
    // What a process has stored itself is not in the reply.
    const other = await openTestStore(server.url, { valkey: valkeySettings });
    await stored(store(other.store, "r", [{ id: "i", text: "x".repeat(10_000) }]));
    await other.close();
    const { store: valkey, close } = await openTestStore(urlOf(proxy.port), {
      valkey: valkeySettings,
    });
    proxy.cutAfter(5_000);
    assertEquals(await outcomeOf(find(valkey, "r")), "state_unavailable");
    proxy.pass();
    await untilUp(valkey);
    assertEquals((await stored(find(valkey, "r")))?.snapshot?.input.length, 1);
    await close();
    await proxy.close();
  },
);

valkeyTest("a reply that arrives slowly but is never silent succeeds", async () => {
  const proxy = startFaultProxy(server.port);
  const { store: valkey, log, close } = await openTestStore(urlOf(proxy.port), {
    valkey: { prefix: newPrefix() },
  });
  await stored(store(valkey, "r"));
  proxy.drip(1);
  assertEquals((await stored(find(valkey, "r")))?.snapshot?.resource, { id: "r" });
  proxy.pass();
  assertEquals(log.lines, []);
  await close();
  await proxy.close();
});

valkeyTest("a server that is full refuses a write as a whole, and reads go on", async () => {
  const own = await startValkeyServer({ args: ["--maxmemory-policy", "noeviction"] });
  const { store: valkey, log, close } = await openTestStore(own.url);
  const { objects } = valkey;
  await stored(store(valkey, "r"));
  const conversation = { id: "c", creator: null, createdAt: 0, metadata: {}, items: [] };
  await stored(objects.conversations.create(conversation));
  const before = await own.command("DEBUG", "DIGEST").catch(() => own.command("DBSIZE"));
  await own.command("CONFIG", "SET", "maxmemory", "1");
  const item = { id: "i", type: "x" };
  const key = { creator: null, calls: "c", text: "t" };
  const writes = [
    store(valkey, "r", [item]),
    store(valkey, "other", [item]),
    objects.conversations.append("c", [item]),
    objects.conversations.create({ ...conversation, id: "d" }),
    objects.owners.chat_completion.bind("x", OWNER),
    objects.reasoning.store(key, { account: "a", blocks: [] }),
  ];
  assertEquals(new Set(await Promise.all(writes.map(outcomeOf))), new Set(["state_unavailable"]));
  const response = { status: 200, headers: {}, body: new TextEncoder().encode("{}") };
  await valkey.cachedResponses.set("k", response, 60_000);
  assertEquals(await valkey.cachedResponses.get("k"), null);
  const after = await own.command("DEBUG", "DIGEST").catch(() => own.command("DBSIZE"));
  assertEquals(after, before);
  assertEquals((await stored(find(valkey, "r")))?.snapshot?.input, []);
  assertEquals((await stored(objects.conversations.find("c")))?.items, []);
  assertEquals(log.lines.filter((line) => line.includes("maxmemory")).length, 1);
  await own.command("CONFIG", "SET", "maxmemory", "0");
  await stored(store(valkey, "r", [item]));
  await close();
  await own.close();
});

valkeyTest(
  "values of another type and records of another form are unreadable, not absent",
  async () => {
    const prefix = newPrefix();
    const { store: valkey, close } = await openTestStore(server.url, { valkey: { prefix } });
    const { objects } = valkey;
    await stored(store(valkey, "r"));
    await server.command("SET", `{${prefix}}:2:response:b:r`, "garbage");
    assertEquals(await outcomeOf(find(valkey, "r")), "state_unreadable");
    await server.command("HSET", `{${prefix}}:2:response:f`, "hr", "garbage");
    assertEquals(await outcomeOf(find(valkey, "r")), "state_unreadable");
    await server.command("SET", `{${prefix}}:2:conversation_owner:f`, "garbage");
    assertEquals(await outcomeOf(objects.owners.conversation.findBinding("x")), "state_unreadable");
    await close();
  },
);

valkeyTest("a response whose content the server has removed is found without it", async () => {
  const prefix = newPrefix();
  const { store: valkey, close } = await openTestStore(server.url, { valkey: { prefix } });
  await stored(store(valkey, "r", [{ id: "i", type: "x" }]));
  const items = await server.command("KEYS", `{${prefix}}:2:response:p:*`);
  assert(Array.isArray(items) && items.length === 1);
  await server.command("DEL", String(items[0]));
  assertEquals((await stored(find(valkey, "r")))?.snapshot, null);
  assertEquals(await stored(valkey.objects.responses.findItems(new Set(["i"]))), []);
  await close();
});

valkeyTest(
  "a store opens without its server, and its operations succeed once there is one",
  async () => {
    const port = freePort();
    const { store: valkey, log, close } = await openTestStore(urlOf(port));
    assertEquals(await outcomeOf(find(valkey, "r")), "state_unavailable");
    assertEquals(log.lines, [
      `error: The state store at 127.0.0.1:${port} is not available: the connection was refused.`,
    ]);
    const own = await startValkeyServer({ port });
    await untilUp(valkey);
    assertEquals(await stored(find(valkey, "r")), null);
    await until(() => log.lines.length === 2);
    assertEquals(log.lines[1], `warn: The state store at 127.0.0.1:${port} is available again.`);
    await close();
    await own.close();
  },
);
