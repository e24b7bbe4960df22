import { newHealthCommand } from "../../src/cli/health.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { configFile, ran, testTerminal, whileServing } from "./test_terminal.ts";

function configWith(port: string): string {
  return `server: {host: 0.0.0.0, port: ${port}}
security: {enabled: true, api_key: {keys: [{name: a, value: "\${CLIENT_KEY:-secret}"}]}}
providers: {up: {type: local, base_url: "http://127.0.0.1:9"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`;
}

Deno.test("health is 0 for a gateway that serves, by its file and by its address, without a client key", async () => {
  using file = await configFile(configWith("0"));
  await whileServing(["--config", file.path], async (terminal) => {
    const [, url = ""] = await terminal.printed(/listens on (http:\S+[0-9])/);
    using sameFile = await configFile(configWith(new URL(url).port));
    for (const args of [["--url", url], ["--url", `${url}/`], ["--config", sameFile.path]]) {
      assertEquals(await ran(["health", ...args]), { code: 0, out: "healthy\n", err: "" });
    }
  });
});

Deno.test("health asks a gateway that runs on when its file is broken", async () => {
  using file = await configFile(configWith("0"));
  await whileServing(["--config", file.path], async (terminal) => {
    const [, url = ""] = await terminal.printed(/listens on (http:\S+[0-9])/);
    const config = configWith(new URL(url).port);
    for (
      const broken of [
        config.replace("local", "lokal"),
        config.replace("port:", "drain_delay: x, prot: 1, port:"),
        `${config}caching: {ttl: x}\n`,
      ]
    ) {
      using sameFile = await configFile(broken);
      const answer = { code: 0, out: "healthy\n", err: "" };
      assertEquals(await ran(["health", "--config", sameFile.path]), answer);
    }
  });
});

Deno.test("health asks at the usual address if the file cannot be parsed, and names both troubles", async () => {
  using file = await configFile("server: {port: 9000\n");
  const asked: string[] = [];
  const away = newHealthCommand(() => ({
    ...newRealWorld(),
    send(url) {
      asked.push(url);
      return Promise.reject(new Error("refused"));
    },
  }));
  const terminal = testTerminal();
  assertEquals(await away.run(new Map([["config", [file.path]]]), terminal), 1);
  assertEquals(asked, ["http://127.0.0.1:8080/health"]);
  assertMatch(terminal.written.err, /\(line \d.*\n.*127\.0\.0\.1:8080 does not answer\.\n$/);
});

Deno.test("health names what is wrong with the place of the gateway in its file", async () => {
  using file = await configFile(configWith("eighty"));
  const { code, err } = await ran(["health", "--config", file.path]);
  assertEquals(code, 1);
  assertMatch(err, /server\.port/);
});

Deno.test("health is 1 where no gateway listens, or something else answers", async () => {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("busy", { status: 503 }),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  const other = await ran(["health", "--url", url]);
  assertEquals([other.code, other.err], [1, `${url} answers with status 503.\n`]);
  await server.shutdown();
  const none = await ran(["health", "--url", url]);
  assertEquals([none.code, none.err], [1, `${url} does not answer.\n`]);
});

Deno.test("health does not wait for a gateway that never answers", async () => {
  const terminal = testTerminal();
  const silent = newHealthCommand(() => ({
    ...newRealWorld(),
    after(ms, task) {
      assertEquals(ms, 3_000);
      task();
      return () => {};
    },
    send: (_url, { cancellation }) =>
      new Promise((_resolve, reject) =>
        void cancellation.onCancel(() => reject(new Error("cancelled")))
      ),
  }));
  const options = new Map([["url", ["http://127.0.0.1:1"]]]);
  assertEquals(await silent.run(options, terminal), 1);
  assertMatch(terminal.written.err, / does not answer\.\n$/);
});

Deno.test("health refuses an address with a path or a password", async () => {
  for (const url of ["http://127.0.0.1:8080/health", "http://a:b@127.0.0.1", "127.0.0.1:8080"]) {
    const { code, err } = await ran(["health", "--url", url]);
    assertEquals([code, err], [1, "--url must be an http or https URL without a path.\n"]);
  }
});
