import { outcomeOf, stored } from "../../support/object_store.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { startFaultProxy } from "../../support/fault_proxy.ts";
import {
  freePort,
  sharedValkeyServer,
  startValkeyServer,
  until,
  valkeyTest,
} from "../../support/valkey_server.ts";
import { pem } from "../../http_client/certificates.ts";
import { openValkeyStore } from "../../../src/store/valkey/open.ts";
import { newPlainCodec } from "../../../src/store/records/plain_codec.ts";
import { newRealWorld } from "../../../src/cli/real_world.ts";
import { PATIENT_TIMEOUT_MS, recordedLog } from "./connections.ts";
import { exercise } from "./exercise.ts";
import { newPrefix, openTestStore, type StoreOptions, storeSettings } from "./stores.ts";

const PASSWORD = "the password of the server";
const CERTIFICATES = new URL("../../http_client/", import.meta.url).pathname;
const NAMED = `${CERTIFICATES}localhost.pem`;

const server = await sharedValkeyServer({
  args: ["--requirepass", PASSWORD],
  auth: [PASSWORD],
});

/** Permissions of a user of the store, as the documentation has them. */
const PERMISSIONS = documentedPermissions();

function documentedPermissions(): readonly string[] {
  const page = new URL("../../../docs/operate/state.md", import.meta.url);
  const [, block = ""] =
    /```text\n~\{switchyard\}\*\s([^`]+)```/.exec(Deno.readTextFileSync(page)) ?? [];
  return block.trim().split(/\s+/);
}

function startTls(certificate: "right" | "wrong name"): ReturnType<typeof startFaultProxy> {
  const pair = certificate === "right"
    ? {
      cert: Deno.readTextFileSync(NAMED),
      key: Deno.readTextFileSync(`${CERTIFICATES}localhost.key`),
    }
    : { cert: pem("named.pem"), key: pem("server.key") };
  return startFaultProxy(server.port, pair);
}

/** Returns the problem of a store that is required. */
async function problemOf(url: string, options: StoreOptions = {}): Promise<string> {
  const world = newRealWorld();
  const settings = storeSettings(url, { ...options, required: true });
  const result = await openValkeyStore(settings, {
    world,
    codec: newPlainCodec(),
    log: options.log ?? recordedLog(),
  });
  if (result.ok) await result.store.close();
  world.close();
  return result.ok ? "opened" : result.problem;
}

valkeyTest("a store opens with the password of its server", async () => {
  const { store, log, close } = await openTestStore(server.url, {
    valkey: { prefix: newPrefix(), password: PASSWORD },
  });
  await exercise(store);
  assertEquals(log.lines, []);
  await close();
});

valkeyTest("a wrong or missing password is one line in the log, without the password", async () => {
  for (
    const [password, reason] of [
      ["a wrong one", "it refuses the user name or password"],
      [undefined, "it requires a password, and none is configured"],
    ] as const
  ) {
    const proxy = startFaultProxy(server.port);
    const { store, log, close } = await openTestStore(`valkey://127.0.0.1:${proxy.port}`, {
      valkey: { password },
    });
    // Each connection is attempted several times.
    await until(() => proxy.accepted >= 6);
    assertEquals(await outcomeOf(store.ping()), "state_unavailable");
    assertEquals(log.lines, [
      `error: The state store at 127.0.0.1:${proxy.port} is not available: ${reason}.`,
    ]);
    await close();
    await proxy.close();
  }
});

valkeyTest(
  "a user that a server without passwords refuses is one line in the log, and no command is sent as another user",
  async () => {
    const open = await startValkeyServer();
    const proxy = startFaultProxy(open.port);
    const { store, log, close } = await openTestStore(`valkey://127.0.0.1:${proxy.port}`, {
      valkey: { username: "unknown", password: "secret" },
    });
    await until(() => proxy.accepted >= 6);
    assertEquals(await outcomeOf(store.ping()), "state_unavailable");
    assertEquals(log.lines, [
      `error: The state store at 127.0.0.1:${proxy.port} is not available: ` +
      "it refuses the user name or password.",
    ]);
    await close();
    await proxy.close();
    await open.close();
  },
);

valkeyTest("a required store that refuses the password is not opened", async () => {
  const problem = await problemOf(server.url, {
    valkey: { username: "nobody", password: "secret" },
  });
  assertEquals(
    problem,
    `state.required: The state store at 127.0.0.1:${server.port} is not available: ` +
      "it refuses the user name or password.",
  );
});

valkeyTest("a required store is not opened without its server", async () => {
  const port = freePort();
  assertEquals(
    await problemOf(`valkey://127.0.0.1:${port}`),
    `state.required: The state store at 127.0.0.1:${port} is not available: ` +
      "the connection was refused.",
  );
});

valkeyTest(
  "a user with the documented permissions for the keys of the store suffices",
  async () => {
    const prefix = newPrefix();
    await server.command(
      ...["ACL", "SETUSER", "gateway", "on", ">secret", `~{${prefix}}*`, ...PERMISSIONS],
    );
    const valkey = { prefix, username: "gateway", password: "secret" };
    const { store, log, close } = await openTestStore(server.url, { valkey });
    await exercise(store);
    assertEquals(log.lines, []);
    await close();
  },
);

Deno.test("the documented permissions are those of the commands that the store sends", async () => {
  const folder = new URL("../../../src/store/valkey/", import.meta.url);
  // The library sends these two when it has connected.
  const sent = new Set(["select", "client|setname"]);
  for (const path of ["./", "scripts/"]) {
    for await (const { name } of Deno.readDir(new URL(path, folder))) {
      if (!name.endsWith(".ts")) continue;
      const text = await Deno.readTextFile(new URL(`${path}${name}`, folder));
      for (const [, command = ""] of text.matchAll(/(?:call|call_all|send)\(['"]([A-Z]+)['"]/g)) {
        sent.add(command.toLowerCase());
      }
    }
  }
  const documented = PERMISSIONS.filter((permission) => permission.startsWith("+"));
  assertEquals(
    documented.toSorted(),
    [...sent].map((command) => `+${command}`).toSorted(),
  );
});

valkeyTest("a permission that a user lacks is one line in the log", async () => {
  const prefix = newPrefix();
  const permissions = PERMISSIONS.filter((permission) => permission !== "+hset");
  await server.command(
    ...["ACL", "SETUSER", "limited", "on", ">secret", `~{${prefix}}*`, ...permissions],
  );
  const valkey = { prefix, username: "limited", password: "secret" };
  const { store, log, close } = await openTestStore(server.url, { valkey });
  const owner = { provider: "p", account: "a", origin: null, creator: null };
  for (let at = 0; at < 3; at++) {
    const bound = store.objects.owners.conversation.bind("c", owner);
    assertEquals(await outcomeOf(bound), "state_unavailable");
  }
  assertEquals(log.lines, [
    `error: The state store at 127.0.0.1:${server.port} has refused a command: the user has no ` +
    "permission for a command that the store needs.",
  ]);
  await close();
});

valkeyTest("TLS is used with the certificates of a file, and the name is checked", async () => {
  const right = startTls("right");
  for (const host of ["localhost", "127.0.0.1"]) {
    const { store, log, close } = await openTestStore(`valkeys://${host}:${right.port}/0`, {
      valkey: {
        prefix: newPrefix(),
        password: PASSWORD,
        ca_file: NAMED,
        timeout: PATIENT_TIMEOUT_MS,
      },
    });
    await exercise(store);
    assertEquals(log.lines, []);
    await close();
  }
  await right.close();
});

valkeyTest("a server whose certificate is not trusted or has another name is refused", async () => {
  const right = startTls("right");
  const wrong = startTls("wrong name");
  const ca = `${CERTIFICATES}certificates/ca.pem`;
  for (
    const [port, ca_file] of [
      [right.port, undefined],
      [right.port, ca],
      [wrong.port, ca],
      [wrong.port, NAMED],
    ] as const
  ) {
    const problem = await problemOf(`rediss://localhost:${port}/0`, {
      valkey: { password: PASSWORD, ca_file, timeout: PATIENT_TIMEOUT_MS },
    });
    assertStringIncludes(problem, `The state store at localhost:${port} is not available: `);
    assertStringIncludes(problem, "its certificate is not trusted or is for another name");
  }
  await right.close();
  await wrong.close();
});

valkeyTest(
  "a server that is silent in the TLS handshake costs no connection per attempt",
  async () => {
    const own = await startValkeyServer();
    const proxy = startFaultProxy(own.port);
    const { log, close } = await openTestStore(`rediss://127.0.0.1:${proxy.port}/0`);
    // A server without TLS waits for the rest of a command.
    // A connection that is given up ends a little later.
    await until(() => proxy.accepted >= 6 && proxy.open <= 2);
    assertEquals(log.lines, [
      `error: The state store at 127.0.0.1:${proxy.port} is not available: ` +
      "the connection could not be made in time.",
    ]);
    await close();
    await proxy.close();
    await own.close();
  },
);

valkeyTest("a file without certificates is a problem at the start", async () => {
  const missing = `${CERTIFICATES}missing.pem`;
  assertEquals(
    await problemOf(server.url, { valkey: { ca_file: missing } }),
    `state.valkey.ca_file: ${missing} cannot be read`,
  );
  const key = `${CERTIFICATES}localhost.key`;
  assertEquals(
    await problemOf(server.url, { valkey: { ca_file: key } }),
    `state.valkey.ca_file: ${key} has no certificate in PEM format`,
  );
});

valkeyTest("the path of the URL is the number of the database", async () => {
  const own = await startValkeyServer({ args: ["--databases", "3"] });
  const [zero, two] = await Promise.all(
    ["0", "2"].map((database) => openTestStore(`valkey://127.0.0.1:${own.port}/${database}`)),
  );
  assert(zero !== undefined && two !== undefined);
  const owner = { provider: "p", account: "a", origin: null, creator: null };
  await stored(two.store.objects.owners.conversation.bind("c", owner));
  assertEquals(await stored(zero.store.objects.owners.conversation.findBinding("c")), null);
  assertEquals(await own.command("DBSIZE"), 0);
  const problem = await problemOf(`valkey://127.0.0.1:${own.port}/3`);
  assertStringIncludes(problem, "it has no database of this number");
  await zero.close();
  await two.close();
  await own.close();
});

valkeyTest("two prefixes share nothing", async () => {
  const valkey = { password: PASSWORD };
  const one = await openTestStore(server.url, { valkey: { ...valkey, prefix: newPrefix() } });
  const other = await openTestStore(server.url, { valkey: { ...valkey, prefix: newPrefix() } });
  await exercise(one.store);
  assertEquals((await stored(other.store.stats())).types, []);
  assertEquals(await stored(other.store.purge()), 0);
  const { types } = await stored(one.store.stats());
  assert(types.length >= 5);
  await stored(one.store.purge());
  assertEquals((await stored(one.store.stats())).types, []);
  await one.close();
  await other.close();
});
