import { success } from "../../src/core/failure/result.ts";
import { optionValue, parseArguments } from "../../src/cli/arguments.ts";
import { newStateCommand } from "../../src/cli/state.ts";
import type { StoreLog } from "../../src/store/store_dependencies.ts";
import type { StateInfo } from "../../src/store/state_info.ts";
import type { OpenedStore } from "../../src/store/state_store.ts";
import { storeUnavailable } from "../../src/store/store_failure.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { newSwitchedStore } from "../support/switched_store.ts";
import { configFile, type Ran, ran, testTerminal } from "./test_terminal.ts";

const SERVER = `
state:
  store: valkey
  encryption_keys: ["${btoa("a".repeat(32))}", "${btoa("b".repeat(32))}"]
  valkey: {url: "valkeys://cache.example.com/3", username: user, password: forbidden, prefix: blue}
`;

function fileOf(state: string): string {
  return `${state}
providers: {openai: {api_key: k}}
routing: {routes: [{name: all, targets: [{provider: openai}]}]}
`;
}

/** Runs the command over a store that `open` opens. */
async function runOver(
  open: (log: StoreLog) => OpenedStore,
  args: readonly string[],
  state = SERVER,
): Promise<Ran> {
  using file = await configFile(fileOf(state));
  const command = newStateCommand((_settings, { log }) => Promise.resolve(open(log)));
  const all = [...args, "--config", file.path];
  const parsed = parseArguments(all, command.options, command.word);
  assert(parsed.ok && optionValue(parsed.values, "config") === file.path);
  const terminal = testTerminal();
  const code = await command.run(parsed.values, terminal);
  return { code, ...terminal.written };
}

/** A store whose content is this; `purged` counts the calls. */
function storeWith(info: StateInfo) {
  const store = newSwitchedStore(() => 0);
  let purged = 0;
  return {
    store: {
      ...store,
      stats: () => Promise.resolve(success(info)),
      purge: () => Promise.resolve(success(40 + ++purged)),
    },
    raw: store,
  };
}

const INFO: StateInfo = {
  version: "Valkey 8.0.1",
  types: [
    { type: "responses", entries: 12, bytes: 34567 },
    { type: "quotas", entries: 2, bytes: 0 },
  ],
  oldestMs: 5_025_600,
  newestMs: 3_999,
};

Deno.test("state info shows store, place, version, encryption, sizes and ages, and no credentials", async () => {
  const { store, raw } = storeWith(INFO);
  const { code, out, err } = await runOver(() => ({ ok: true, store }), ["info"]);
  assertEquals([code, err], [0, ""]);
  assertEquals(
    out,
    `Store          valkey
Place          cache.example.com:6379, database 3, prefix blue
Version        Valkey 8.0.1
Encryption     2 keys; the first one encrypts
Oldest record  1h23m45s old
Newest record  3s old

Records:
  responses  12 entries, 34567 bytes
  quotas     2 entries, 0 bytes
`,
  );
  assert(raw.isClosed);
});

Deno.test("state info shows an empty store without ages, and the sentinels of a server", async () => {
  const { store } = storeWith({ version: "x", types: [], oldestMs: null, newestMs: null });
  const state = 'state: {store: valkey, valkey: {sentinels: ["a:1", "b:2"], master: main}}';
  const { out } = await runOver(() => ({ ok: true, store }), ["info"], state);
  assertEquals(
    out,
    `Store       valkey
Place       main of a:1, b:2, database 0, prefix switchyard
Version     x
Encryption  none

No records.
`,
  );
});

Deno.test("state purge deletes nothing without --yes, and names the place", async () => {
  const { code, out, err } = await runOver(() => {
    throw new Error("the store was opened");
  }, ["purge"]);
  assertEquals([code, out], [2, ""]);
  assertEquals(
    err,
    "This deletes all state in cache.example.com:6379, database 3, prefix blue; repeat it with " +
      '--yes. See "switchyard state --help".\n',
  );
});

Deno.test("state purge --yes deletes all state and says how much it was", async () => {
  const { store, raw } = storeWith(INFO);
  const { code, out } = await runOver(() => ({ ok: true, store }), ["purge", "--yes"]);
  assertEquals(code, 0);
  assertEquals(
    out,
    "Deleted 41 records in cache.example.com:6379, database 3, prefix blue.\n",
  );
  assert(raw.isClosed);
});

Deno.test("a store that cannot be opened or does not answer is one sentence and exit code 1", async () => {
  const away = {
    ...newSwitchedStore(() => 0),
    stats: () => Promise.resolve(storeUnavailable()),
    purge: () => Promise.resolve(storeUnavailable()),
  };
  for (const args of [["info"], ["purge", "--yes"]]) {
    const closed = await runOver(() => ({ ok: false, problem: "It is in use." }), args);
    assertEquals(closed, { code: 1, out: "", err: "It is in use.\n" });
    const silent = await runOver(() => ({ ok: true, store: away }), args);
    const sentence =
      "The state store (cache.example.com:6379, database 3, prefix blue) does not answer.\n";
    assertEquals(silent, { code: 1, out: "", err: sentence });
    const refused = await runOver((log) => {
      log.error("It refuses the password.");
      return { ok: true, store: away };
    }, args);
    assertEquals(refused, { code: 1, out: "", err: "It refuses the password.\n" });
  }
});

Deno.test("state in memory has nothing to show and nothing to delete", async () => {
  using file = await configFile(fileOf(""));
  const info = await ran(["state", "info", "--config", file.path]);
  assertEquals([info.code, info.err], [0, ""]);
  assertStringIncludes(info.out, "state.store is memory");
  const purge = await ran(["state", "purge", "--yes", "--config", file.path]);
  assertEquals([purge.code, purge.out], [1, ""]);
  assertStringIncludes(purge.err, "a restart deletes it");
});

Deno.test("with the store none, state info and state purge say that nothing is stored", async () => {
  using file = await configFile(fileOf("state: {store: none}"));
  for (const args of [["info"], ["purge"], ["purge", "--yes"]]) {
    const { code, out, err } = await ran(["state", ...args, "--config", file.path]);
    assertEquals([code, out, err], [0, "state.store is none: nothing is stored.\n", ""]);
  }
});

Deno.test("a database that does not exist is not created", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/state.db`;
  using file = await configFile(fileOf(`state: {store: sqlite, sqlite: {path: "${path}"}}`));
  try {
    for (const args of [["info"], ["purge", "--yes"]]) {
      const { code, out } = await ran(["state", ...args, "--config", file.path]);
      assertEquals([code, out], [0, `${path} does not exist, so there is no state.\n`]);
    }
    assertEquals([...Deno.readDirSync(directory)], []);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("state without an action, with another one or with info --yes is wrong usage", async () => {
  for (const args of [[], ["show"], ["info", "--yes"]]) {
    const { code, err } = await ran(["state", ...args]);
    assertEquals(code, 2, err);
  }
});

Deno.test("a broken configuration is refused before the store is opened", async () => {
  using file = await configFile(fileOf("state: {store: nothing}"));
  const { code, err } = await ran(["state", "info", "--config", file.path]);
  assertEquals(code, 1);
  assertStringIncludes(err, "state.store: must be none, memory, sqlite or valkey");
});
