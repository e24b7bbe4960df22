import { join } from "node:path";
import { Buffer } from "node:buffer";
import { load } from "../../src/config/load.ts";
import { changesBetween } from "../../src/gateway/changes.ts";
import { pem } from "../http_client/certificates.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, withSection } from "./parse.ts";

/** A secret that no message may show. */
const SECRET = "Zm9yYmlkZGVu";

/** Returns a valid key in base64. */
function keyText(value: number): string {
  return Buffer.alloc(32, value).toString("base64");
}

function state(settings: string): string {
  return withSection(`state: {${settings}}`);
}

function valkey(settings: string): string {
  return state(`store: valkey, valkey: {${settings}}`);
}

/** Returns the problems without their positions. */
function plainProblems(text: string): string[] {
  return problemsOf(text).map((line) => line.replace(/ \(line \d+, column \d+\)$/, ""));
}

Deno.test("state is in memory by default, and each setting has its default", () => {
  assertEquals(configOf(withSection()).state, {
    store: "memory",
    ttl: 1_800_000,
    owner_ttl: 30 * 24 * 3_600_000,
    max_entries: 1_000,
    max_bytes: 67_108_864,
    max_items: 10_000,
    on_outage: "serve",
    usage_days: 35,
    required: false,
    encryption_keys: [],
    sqlite: { path: "switchyard.db", synchronous: "full" },
    valkey: {
      url: "valkey://127.0.0.1:6379/0",
      prefix: "switchyard",
      sentinels: [],
      cluster: false,
      timeout: 500,
    },
  });
});

Deno.test("an address of a server is accepted with each scheme, a port and a database", () => {
  for (
    const url of [
      "redis://cache",
      "rediss://cache.example.com:6380/15",
      "valkey://[::1]:6379/",
      "valkeys://10.0.0.1:6379/0",
    ]
  ) assertEquals(configOf(valkey(`url: "${url}"`)).state.valkey.url, url);
});

Deno.test("the store none needs no other setting, and names of stores are from a fixed list", () => {
  assertEquals(configOf(state("store: none")).state.store, "none");
  assertEquals(plainProblems(state("store: nothing")).length, 1);
});

Deno.test("an address of a server that cannot be used is refused, and never shown", () => {
  const credentials = "must not contain a user or a password; " +
    "use state.valkey.username and state.valkey.password";
  const scheme = "must begin with redis://, rediss://, valkey:// or valkeys://";
  const database = "must end with the port or the number of a database, such as /0";
  const cases: Record<string, string> = {
    [`valkey://:${SECRET}@cache/0`]: credentials,
    [`valkey://${SECRET}@cache/0`]: credentials,
    [`https://user:${SECRET}@cache`]: credentials,
    "https://cache": scheme,
    "cache:6379": scheme,
    [`${SECRET}`]: "must be a URL, such as rediss://cache.example.com:6379/0",
    "valkey:///0": "must name a host",
    [`valkey://cache/0?password=${SECRET}`]: "must not have a query or a fragment",
    "valkey://cache/0#a": "must not have a query or a fragment",
    "valkey://cache/one": database,
    "valkey://cache/0/1": database,
    "valkey://cache/-1": database,
  };
  for (const [url, problem] of Object.entries(cases)) {
    const problems = plainProblems(valkey(`url: "${url}"`));
    assertEquals(problems, [`state.valkey.url: ${problem}`], url);
  }
});

Deno.test("an encryption key that is not 32 bytes in base64 is refused, and never shown", () => {
  const problem = "must be 32 bytes in base64, for example from `openssl rand -base64 32`";
  const broken = [
    SECRET,
    "",
    `${keyText(1)}=`,
    keyText(1).slice(4),
    `${keyText(1)}AAAA`,
    "${NONE}",
  ];
  for (const text of broken) {
    const problems = plainProblems(state(`store: sqlite, encryption_keys: ["${text}"]`));
    assertEquals(problems[0], `state.encryption_keys[0]: ${problem}`, text);
    assert(!problems.join().includes(SECRET));
  }
});

Deno.test("encryption keys are accepted in base64 and base64url, and each only once", () => {
  const key = Buffer.alloc(32, 255);
  const both = [key.toString("base64"), key.toString("base64url")];
  for (const text of both) {
    const { encryption_keys } =
      configOf(state(`store: sqlite, encryption_keys: ["${text}"]`)).state;
    assertEquals(encryption_keys, [text]);
  }
  const listed = state(`store: sqlite, encryption_keys: ["${both.join('", "')}"]`);
  assertEquals(plainProblems(listed), ["state.encryption_keys[1]: is already in the list"]);
});

Deno.test("client certificates to the server are refused with the reason", () => {
  const reason = "is not supported: the runtime ends the whole process on a client certificate " +
    "that it cannot use; use username and password";
  assertEquals(plainProblems(valkey("cert_file: a.pem, key_file: a.key")), [
    `state.valkey.cert_file: ${reason}`,
    `state.valkey.key_file: ${reason}`,
  ]);
});

Deno.test("sentinels require a master and the reverse, and exclude a cluster", () => {
  const cases: Record<string, readonly string[]> = {
    'sentinels: ["a:1", "b:1"]': ["sentinels: requires master"],
    "master: main": ["master: requires sentinels"],
    'sentinels: ["a:1", "b:1", "a:1"], master: main': ["sentinels[2]: is already in the list"],
    'sentinels: ["a:1"], master: main, cluster: true': [
      "cluster: cannot be used together with sentinels",
    ],
    "cluster: true, url: valkey://a/1": [
      "cluster: has only database 0; remove the number from url",
    ],
    "sentinels: [a]": ["sentinels: requires master", "sentinels[0]: must be host:port"],
  };
  for (const [settings, problems] of Object.entries(cases)) {
    const expected = problems.map((problem) => `state.valkey.${problem}`);
    assertEquals(plainProblems(valkey(settings)), expected, settings);
  }
  assertEquals(plainProblems(valkey('sentinels: ["a:1", "b:1"], master: main')), []);
  assertEquals(plainProblems(valkey("cluster: true, url: valkey://a/0")), []);
  assertEquals(plainProblems(valkey("cluster: true")), []);
});

Deno.test("the CA file of the server is read at a check, next to the configuration file", async () => {
  const directory = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(directory, "ca.pem"), pem("ca.pem"));
    await Deno.writeTextFile(join(directory, "text.pem"), "text");
    const file = join(directory, "config.yaml");
    const loadWith = async (name: string) => {
      await Deno.writeTextFile(file, valkey(`url: "rediss://cache", ca_file: ${name}`));
      return await load(file, {});
    };
    const loaded = await loadWith("ca.pem");
    assert(loaded.ok);
    assertEquals(loaded.config.state.valkey.ca_file, join(directory, "ca.pem"));
    const cases = {
      "text.pem": "names a file without a usable certificate in PEM",
      "none.pem": "names a file that does not exist",
      ".": "names a file that is not a regular file",
    };
    for (const [name, problem] of Object.entries(cases)) {
      const refused = await loadWith(name);
      const [line = "", ...others] = refused.ok ? [] : refused.problems;
      assert(line.startsWith(`state.valkey.ca_file: ${problem} (line 1`), line);
      assertEquals(others, []);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("an empty password of a variable that is not set is no password", () => {
  assertEquals(configOf(valkey('password: ""')).state.valkey.password, undefined);
  assertEquals(configOf(valkey("password: 12")).state.valkey.password, "12");
});

Deno.test("neither a problem nor the words of a change show a password or an encryption key", () => {
  const secrets = `encryption_keys: ["${keyText(7)}"], valkey: {password: "${SECRET}"`;
  const broken = problemsOf(state(`store: none, ${secrets}, url: "https://${SECRET}@a", x: 1}`));
  assert(broken.length > 1);
  const changed = changesBetween(
    configOf(withSection()),
    configOf(state(`store: valkey, ${secrets}}`)),
  );
  assertEquals(changed, ["state changed"]);
  for (const secret of [SECRET, keyText(7)]) assert(!broken.join().includes(secret));
});

Deno.test("usage is stored for 0 to 400 days", () => {
  assertEquals(configOf(state("usage_days: 0")).state.usage_days, 0);
  for (const days of ["-1", "401", "1.5", "x"]) {
    const [problem = ""] = plainProblems(state(`usage_days: ${days}`));
    assert(problem.startsWith("state.usage_days: "), problem);
  }
});
