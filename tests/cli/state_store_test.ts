import { newRealWorld } from "../../src/cli/real_world.ts";
import { load } from "../../src/config/load.ts";
import { openStateStore } from "../../src/store/open_store.ts";
import type { StateStore } from "../../src/store/state_store.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { stored } from "../support/object_store.ts";
import { startValkeyServer, valkeyTest } from "../support/valkey_server.ts";
import { configFile, ran } from "./test_terminal.ts";

const OWNER = { provider: "p", account: "a", origin: null, creator: null };

function fileOf(state: string): string {
  return `state: ${state}
providers: {openai: {api_key: k}}
routing: {routes: [{name: all, targets: [{provider: openai}]}]}
`;
}

/** Runs a function on the store of a configuration file. */
async function withStore(path: string, run: (store: StateStore) => Promise<void>): Promise<void> {
  const loaded = await load(path, {});
  assert(loaded.ok);
  const world = newRealWorld();
  const log = { info() {}, warn() {}, error() {} };
  const opened = await openStateStore(loaded.config.state, { world, log });
  assert(opened?.ok === true);
  await run(opened.store);
  await opened.store.close();
  world.close();
}

/** A server that ends with the test. */
async function disposableServer() {
  const server = await startValkeyServer();
  return { url: server.url, [Symbol.asyncDispose]: () => server.close() };
}

async function bind({ objects }: StateStore, id: string): Promise<void> {
  await stored(objects.owners.conversation.bind(id, OWNER));
}

Deno.test("state info and state purge work on a database in a file", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/state.db`;
  using file = await configFile(fileOf(`{store: sqlite, sqlite: {path: "${path}"}}`));
  try {
    await withStore(file.path, (store) => bind(store, "a"));
    const info = await ran(["state", "info", "--config", file.path]);
    assertEquals([info.code, info.err], [0, ""]);
    assertStringIncludes(info.out, `Place          ${path}\n`);
    assertMatch(info.out, /Version {8}SQLite \d+\.\d+[^]*\n {2}owners {2}1 entries, \d+ bytes\n/);
    const purge = await ran(["state", "purge", "--yes", "--config", file.path]);
    assertEquals(purge, { code: 0, out: `Deleted 1 records in ${path}.\n`, err: "" });
    const empty = await ran(["state", "info", "--config", file.path]);
    assertStringIncludes(empty.out, "No records.\n");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("a database that a running gateway uses is one sentence, and nothing is deleted", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/state.db`;
  using file = await configFile(fileOf(`{store: sqlite, sqlite: {path: "${path}"}}`));
  try {
    await withStore(file.path, async (store) => {
      await bind(store, "a");
      for (const args of [["info"], ["purge", "--yes"]]) {
        const { code, out, err } = await ran(["state", ...args, "--config", file.path]);
        assertEquals([code, out], [1, ""]);
        assertMatch(
          err,
          /^The database ".*" \(state\.sqlite\.path\) is in use by another process;.*\n$/,
        );
      }
      assert(await stored(store.objects.owners.conversation.findBinding("a")) !== null);
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

valkeyTest(
  "state info and state purge work on a server, and leave other prefixes and keys",
  async () => {
    await using server = await disposableServer();
    const { url } = server;
    const { host } = new URL(url.replace(/^\w+:/, "http:"));
    const settings = (prefix: string) =>
      fileOf(`{store: valkey, valkey: {url: "${url}", prefix: ${prefix}}}`);
    using mine = await configFile(settings("cli-one"));
    using other = await configFile(settings("cli-one.two"));
    for (const { path } of [mine, other]) await withStore(path, (store) => bind(store, "a"));
    const info = await ran(["state", "info", "--config", mine.path]);
    assertEquals([info.code, info.err], [0, ""]);
    assertStringIncludes(info.out, `Place          ${host}, database 0, prefix cli-one\n`);
    assertMatch(info.out, /\n {2}owners {2}1 entries, \d+ bytes\n/);
    const purge = await ran(["state", "purge", "--yes", "--config", mine.path]);
    assertEquals(purge, {
      code: 0,
      out: `Deleted 1 records in ${host}, database 0, prefix cli-one.\n`,
      err: "",
    });
    const empty = await ran(["state", "info", "--config", mine.path]);
    assertStringIncludes(empty.out, "No records.\n");
    await withStore(other.path, async (store) => {
      assert(await stored(store.objects.owners.conversation.findBinding("a")) !== null);
      await stored(store.purge());
    });
  },
);

Deno.test("a server that does not answer is one sentence and exit code 1", async () => {
  // No server listens on this port of the loopback address.
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const state = `{store: valkey, valkey: {url: "valkey://127.0.0.1:${port}", password: forbidden}}`;
  using file = await configFile(fileOf(state));
  for (const args of [["info"], ["purge", "--yes"]]) {
    const { code, out, err } = await ran(["state", ...args, "--config", file.path]);
    assertEquals([code, out], [1, ""]);
    assertEquals(
      err,
      `The state store at 127.0.0.1:${port} is not available: the connection was refused.\n`,
    );
  }
});
