import { runtimeWarning } from "../../src/cli/gateway_server.ts";
import { listen } from "../../src/cli/listen.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { configFile, ran, testClient, whileServing } from "./test_terminal.ts";

const LISTENS = /listens on (http:\/\/127\.0\.0\.1:\d+)\n/;

function configOver(upstream: string): string {
  return `
server: {port: 0}
providers:
  sim: {type: compat, base_url: "${upstream}/compat/v1"}
routing:
  routes:
    - {name: all, targets: [{provider: sim, model: sim-echo}]}
    - {name: never, targets: [{provider: sim}]}
`;
}

async function addressOf(terminal: { printed(pattern: RegExp): Promise<RegExpExecArray> }) {
  const [, url = ""] = await terminal.printed(LISTENS);
  return url;
}

Deno.test("serve prints its address, the routes and a working example call", async () => {
  using client = testClient();
  await whileServing(["simulate", "--port", "0"], async (simulated) => {
    using file = await configFile(configOver(await addressOf(simulated)));
    const served = await whileServing(["--config", file.path], async (terminal) => {
      const url = await addressOf(terminal);
      const [, address = "", body = ""] = await terminal.printed(/curl (\S+) -d '(.*)'\n/);
      assertEquals(address, `${url}/v1/chat/completions`);
      const answer = await client.fetch(address, { method: "POST", body });
      assertEquals([answer.status, answer.headers.get("x-gateway-route")], [200, "all"]);
      assertStringIncludes(await answer.text(), '"content":"Say hello."');
    });
    assertEquals(served.code, 0);
    assertStringIncludes(served.out, "\n  all: any path, any model -> sim/sim-echo\n");
    assertMatch(served.err, /WARN .*routing\.routes\[1\]: is only reached by name/);
    assertMatch(served.err, /INFO +request .*route=all/);
  });
});

Deno.test("requests in flight are finished after a signal to end", async () => {
  using client = testClient();
  await whileServing(["simulate", "--port", "0"], async (simulated) => {
    using file = await configFile(
      configOver(await addressOf(simulated)).replace("sim-echo", "sim-slow-1"),
    );
    const served = await whileServing(["--config", file.path], async (terminal) => {
      const messages = [{ role: "user", content: "one two three four" }];
      const stream = await client.fetch(`${await addressOf(terminal)}/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify({ model: "sim-slow-1", stream: true, messages }),
      });
      terminal.end();
      const text = await stream.text();
      assert(text.includes('" four"') && text.endsWith("data: [DONE]\n\n"));
    });
    assertEquals(served.code, 0);
    assertStringIncludes(served.err, "stopping");
  });
});

Deno.test("arguments override the file", async () => {
  using file = await configFile(
    configOver("http://127.0.0.1:1").replace("port: 0", "port: 1, host: 192.0.2.1"),
  );
  const args = ["--config", file.path, "--host=localhost", "--port=0", "--log-level=error"];
  const served = await whileServing(args, async (terminal) => void await addressOf(terminal));
  assertEquals([served.code, served.err], [0, ""]);
});

Deno.test("an unusable address prints one sentence and exits with 1", async () => {
  const taken = listen(() => Promise.resolve(new Response()), "127.0.0.1", 0);
  assert(taken.ok);
  const port = new URL(taken.url).port;
  using file = await configFile(configOver("http://127.0.0.1:1"));
  assertEquals(await ran(["--config", file.path, "--port", port]), {
    code: 1,
    out: "",
    err: `Port ${port} on 127.0.0.1 is in use; choose another with --port.\n`,
  });
  const simulate = await ran(["simulate", "--port", port]);
  assertEquals([simulate.code, simulate.out], [1, ""]);
  const demo = await ran(["demo", "--port", port]);
  assertEquals([demo.code, demo.out], [1, ""]);
  await taken.close();
  const elsewhere = await ran(["--config", file.path, "--host", "192.0.2.1"]);
  assertEquals([elsewhere.code, elsewhere.out], [1, ""]);
  assertMatch(elsewhere.err, /^Cannot listen on 192\.0\.2\.1, port 0: .*--host\.\n$/);
});

Deno.test("an invalid file is not served", async () => {
  using file = await configFile(configOver("nowhere"));
  const { code, out, err } = await ran(["--config", file.path]);
  assertEquals([code, out], [1, ""]);
  assertMatch(err, /^providers\.sim\.base_url: .*\n$/);
});

Deno.test("a wildcard address is shown as one that clients can reach", async () => {
  for (const [host, shown] of [["0.0.0.0", "127.0.0.1"], ["::", "[::1]"]] as const) {
    const listening = listen(() => Promise.resolve(new Response()), host, 0);
    assert(listening.ok);
    assert(listening.url.startsWith(`http://${shown}:`));
    await listening.close();
  }
});

Deno.test("versions of Deno that miss disconnecting clients are a warning", () => {
  assertEquals(["2.4.2", "2.7.11"].map(runtimeWarning), [null, null]);
  for (const version of ["2.8.3", "2.9.6", "3.0.0"]) {
    assertStringIncludes(runtimeWarning(version) ?? "", "use 2.7.11");
  }
});
