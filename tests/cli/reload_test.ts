import { newNoteBook } from "../../src/admin/notes.ts";
import { newReloader } from "../../src/cli/reload.ts";
import { newLog, textOf } from "../../src/observe/log.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { startUpstream } from "../support/upstream.ts";
import {
  configFile,
  type Ran,
  testClient,
  type TestTerminal,
  whileServing,
} from "./test_terminal.ts";

const FILE = `
server: {port: 0}
providers:
  one: {type: compat, base_url: "http://127.0.0.1:1", api_key: secret-of-one}
routing: {routes: [{name: all, targets: [{provider: one}]}]}
`;

const TWO = '  two: {type: compat, base_url: "http://127.0.0.1:1"}\nrouting:';

interface Reloading {
  readonly terminal: TestTerminal;
  /** Writes the file, which is noticed, and asks for a reload too: one of both comes first. */
  write(text: string): Promise<void>;
  /** Returns the response to `GET path`, or to `POST path` with a body. */
  get(path: string, body?: string): Promise<string>;
}

async function reloading(
  args: readonly string[],
  use: (reloading: Reloading) => Promise<void>,
  text = FILE,
): Promise<Ran> {
  using client = testClient();
  using file = await configFile(text);
  return await whileServing(["--config", file.path, ...args], async (terminal) => {
    const [, url = ""] = await terminal.printed(/listens on (\S+)\n/);
    await use({
      terminal,
      async write(text) {
        await Deno.writeTextFile(file.path, text);
        terminal.reload();
      },
      async get(path, body) {
        const init = body === undefined ? {} : { method: "POST", body };
        return await (await client.fetch(url + path, init)).text();
      },
    });
  });
}

Deno.test("a changed file is loaded without a signal, and the log names the changes", async () => {
  using file = await configFile(FILE);
  using client = testClient();
  const { err } = await whileServing(["--config", file.path], async (terminal) => {
    const [, url = ""] = await terminal.printed(/listens on (\S+)\n/);
    await Deno.writeTextFile(file.path, FILE.replace("routing:", TWO));
    await terminal.printed(/configuration reloaded/);
    const ready = await client.fetch(`${url}/ready`);
    assertEquals(await ready.json(), { status: "ready", providers: 2 });
  });
  assertMatch(err, /INFO +configuration reloaded changes="providers: two added"\n/);
});

Deno.test("an invalid file changes nothing; each problem is logged and the reload is counted", async () => {
  const { err } = await reloading([], async ({ terminal, write, get }) => {
    await write(FILE.replace("port: 0", "prot: 0").replace("name: all", "name: ''"));
    await terminal.printed(/configuration not reloaded/);
    assertEquals(JSON.parse(await get("/ready")), { status: "ready", providers: 1 });
    assertMatch(await get("/metrics"), /gateway_config_reloads_total\{result="failure"\} [1-9]/);
    assertMatch(await get("/metrics"), /gateway_config_reloads_total\{result="success"\} 0\n/);
  });
  assertMatch(err, /ERROR server\.prot: is not a known key; did you mean "port"\? \(line 2/);
  assertMatch(err, /ERROR routing\.routes\[0\]\.name: /);
  assertMatch(err, /ERROR configuration not reloaded: the previous one stays in use\n/);
});

Deno.test("a refused file leaves the privacy rules as they are, whatever it makes of them", async () => {
  await using upstream = startUpstream(({ json }) => json(200, COMPLETION));
  const privacy = `
privacy:
  secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=
  rules: [{name: mail, find: [email], action: replace}, {name: bird, words: [kingfisher], action: mask}]
  policies: [{name: all, rules: [mail, bird]}]
  default: all
`;
  const served = FILE.replace("http://127.0.0.1:1", upstream.url) + privacy;
  const refused = [
    served.replace("find: [email]", "pattern: '(', label: mail"),
    served.replace("rules: [mail, bird]}", "rules: [bird, owl]}"),
    served.replace("default: all", "default: none"),
    served.replace("find: [email], action: replace", "find: [card], action: delete"),
    served.replace(privacy, "").replace("port: 0", "prot: 0"),
    served.replace(
      privacy,
      "security: {enabled: true, api_key: {keys: [{name: a, value: k, privacy: all}]}}",
    ),
  ];
  await reloading([], async ({ terminal, write, get }) => {
    const ask = async () => {
      const content = "a Kingfisher of bob@example.com";
      await get(
        "/v1/chat/completions",
        JSON.stringify({ model: "m", messages: [{ role: "user", content }] }),
      );
      return upstream.requests.at(-1)?.body ?? "";
    };
    const first = await ask();
    assertMatch(first, /"a \[bird\] of qz[a-z]{16}email"/);
    for (const [at, text] of refused.entries()) {
      await write(text);
      await terminal.printed(new RegExp(`(?:configuration not reloaded[^]*){${at + 1}}`));
      assertEquals(await ask(), first);
    }
  }, served);
});

Deno.test("a provider that is broken on its own is left out", async () => {
  const { err } = await reloading([], async ({ terminal, write, get }) => {
    await write(FILE.replace("routing:", TWO.replace("compat", "kompat")));
    await terminal.printed(/broken provider left out/);
    await write(FILE.replace("routing:", TWO));
    await terminal.printed(/providers: two added/);
    assertEquals(JSON.parse(await get("/ready")), { status: "ready", providers: 2 });
  });
  assertMatch(err, /ERROR providers\.two\.type: must be /);
  assertMatch(err, /ERROR broken provider left out provider=two\n/);
});

Deno.test("a file with the same settings is no change", async () => {
  const { err } = await reloading(["--log-level=debug"], async ({ terminal, write, get }) => {
    await write(`# another comment\n${FILE}`);
    await terminal.printed(/DEBUG +configuration unchanged\n/);
    assertMatch(await get("/metrics"), /gateway_config_reloads_total\{result="success"\} 0\n/);
  });
  assert(!err.includes("reloaded"), err);
});

Deno.test("changed keys that need a restart are named, and the rest applies", async () => {
  const { err } = await reloading(["--host=127.0.0.1"], async ({ terminal, write, get }) => {
    const server = "server: {port: 81, host: 192.0.2.1, drain_timeout: 1s}";
    const logging = "logging: {format: json}\ntelemetry: {service_name: other}\n" +
      "observability: {key_labels: [team]}\n" +
      `state: {max_entries: 5, encryption_keys: [${"A".repeat(43)}]}\n` +
      "record: {enabled: true, path: other.db, keep: 2h}\nproviders:";
    await write(
      FILE.replace("server: {port: 0}", server).replace("providers:", logging)
        .replace("routing:", TWO),
    );
    await terminal.printed(/configuration reloaded/);
    assertEquals(JSON.parse(await get("/ready")), { status: "ready", providers: 2 });
  });
  const waiting = [...err.matchAll(/WARN +(\S+) has changed: it needs a restart\n/g)];
  assertEquals(waiting.map(([, key]) => key), [
    "server.port",
    "server.drain_timeout",
    "logging.format",
    "telemetry.service_name",
    "observability.key_labels",
    "state.max_entries",
    "state.encryption_keys",
    "record.enabled",
    "record.path",
  ]);
  assertMatch(err, /INFO +configuration reloaded changes="providers: two added; record changed"\n/);
});

Deno.test("the level of the log changes at once, over an argument too once the file's does", async () => {
  const { err } = await reloading(["--log-level=warn"], async ({ terminal, write, get }) => {
    const level = (name: string) =>
      FILE.replace("providers:", `logging: {level: ${name}}\nproviders:`);
    await write(FILE.replace("name: all", "name: main"));
    while (!(await get("/metrics")).includes('reloads_total{result="success"} 1'));
    await write(level("debug"));
    await terminal.printed(/configuration reloaded/);
    await get("/health");
    await terminal.printed(/path=\/health/);
  });
  assertMatch(err, /INFO +configuration reloaded changes="logging changed/);
  assertEquals(err.split("configuration reloaded").length, 2);
});

Deno.test("a reload never logs a value of the file", async () => {
  const { out, err } = await reloading(["--log-level=debug"], async ({ terminal, write }) => {
    await write(FILE.replace("secret-of-one", "secret-of-two"));
    await terminal.printed(/configuration reloaded changes="providers: one changed"/);
    await write(FILE.replace("api_key: secret-of-one", "api_key: {secret-of-one: secret}"));
    await terminal.printed(/configuration not reloaded/);
  });
  assert(!`${out}${err}`.includes("secret"), err);
});

const UNUSED = "providers.one.top_k: has no effect for type compat; only type local uses it";

Deno.test("a key without effect is warned about at start, and serving begins", async () => {
  using client = testClient();
  using file = await configFile(FILE.replace("api_key", "top_k: 5, api_key"));
  const { err } = await whileServing(["--config", file.path], async (terminal) => {
    const [, url = ""] = await terminal.printed(/listens on (\S+)\n/);
    const ready = await client.fetch(`${url}/ready`);
    assertEquals(await ready.json(), { status: "ready", providers: 1 });
  });
  assert(err.includes(`WARN  ${UNUSED} (line 4, `), err);
});

Deno.test("a key without effect that comes with a reload is warned about once and removes nothing", async () => {
  const { err } = await reloading(["--log-level=debug"], async ({ terminal, write, get }) => {
    await write(FILE.replace("api_key", "top_k: 5, api_key"));
    await terminal.printed(/WARN +providers\.one\.top_k: has no effect/);
    await terminal.printed(/DEBUG +configuration unchanged/);
    assertEquals(JSON.parse(await get("/ready")), { status: "ready", providers: 1 });
    await write(FILE.replace("api_key", "top_k: 6, api_key").replace("routing:", TWO));
    await terminal.printed(/configuration reloaded/);
    assertEquals(JSON.parse(await get("/ready")), { status: "ready", providers: 2 });
  });
  assert(!err.includes("left out"), err);
  assertEquals(err.match(/providers: .*\n/g), ['providers: two added"\n']);
});

Deno.test("warnings are not repeated while the file causes the same ones", async () => {
  const lines: string[] = [];
  const log = newLog(
    { level: "debug", format: "console" },
    (line) => void lines.push(textOf(line)),
  );
  const config = configOf(FILE);
  const found = { ok: true, config, leftOut: [], problems: [] } as const;
  const read = [["first"], ["first"], ["second"], ["second"], []];
  const reloader = newReloader(
    { config, log, reload: () => [], reloaded() {}, notes: newNoteBook(() => 0) },
    {
      read: () => Promise.resolve({ ...found, warnings: read.shift() ?? [] }),
      override: (one) => one,
    },
    { config, warnings: ["first"] },
  );
  for (const _ of [...read]) await reloader.request();
  assertEquals(lines.map((line) => line.slice(25)), [
    "DEBUG configuration unchanged\n",
    "DEBUG configuration unchanged\n",
    "WARN  second\n",
    "DEBUG configuration unchanged\n",
    "DEBUG configuration unchanged\n",
    "DEBUG configuration unchanged\n",
  ]);
});
