import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { program } from "./program.ts";
import { configFile, testClient, whileServing } from "./test_terminal.ts";

const PORT_0 = `
server: {port: 0}
providers: {openai: {api_key: k}}
routing: {routes: [{name: all, targets: [{provider: openai}]}]}
`;

Deno.test("the program serves and ends with 0 on SIGTERM; SIGHUP does not end it", async () => {
  using client = testClient();
  using file = await configFile(PORT_0);
  const { child, out, err } = program(["--config", file.path]);
  const [, url = ""] = await out.until(/listens on (\S+)/) ?? [];
  child.kill("SIGHUP");
  const health = await client.fetch(`${url}/health`);
  assertEquals(health.status, 200);
  assertStringIncludes(await health.text(), '"status":"ok"');
  child.kill("SIGTERM");
  assertEquals((await child.status).code, 0);
  const [, log] = await Promise.all([out.rest(), err.rest()]);
  assertMatch(log, /request .*path=\/health .*stopping/s);
});

Deno.test("a second signal ends the program while requests are in flight", async () => {
  using client = testClient();
  await whileServing(["simulate", "--port", "0"], async (simulated) => {
    const [, upstream = ""] = await simulated.printed(/compat +(http\S+)\n/);
    using file = await configFile(PORT_0.replace("api_key: k", `base_url: "${upstream}"`));
    const { child, out, err } = program(["--config", file.path]);
    const [, url = ""] = await out.until(/listens on (\S+)/) ?? [];
    const messages = [{ role: "user", content: "hello" }];
    const stream = await client.fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "sim-broken-silent", stream: true, messages }),
    });
    const broken = stream.text().then(() => "whole", () => "broken");
    child.kill("SIGINT");
    await err.until(/stopping/);
    child.kill("SIGTERM");
    assertEquals((await child.status).code, 143);
    assertEquals(await broken, "broken");
    await Promise.all([out.rest(), err.rest()]);
  });
});

Deno.test("the program ends with 1 and every problem of a broken file", async () => {
  using file = await configFile(
    PORT_0.replace("port: 0", "port: x").replace("name: all", "nam: a"),
  );
  const { child, out, err } = program(["--config", file.path]);
  assertEquals((await child.status).code, 1);
  assertEquals(await out.rest(), "");
  const problems = (await err.rest()).trimEnd().split("\n");
  assert(problems.length === 3);
  for (const part of ["server.port: ", 'did you mean "name"?', "routing.routes[0].name: "]) {
    assert(problems.some((problem) => problem.includes(part)), part);
  }
});

Deno.test("without a file the program prints what to do, or serves the providers of the environment", async () => {
  const cwd = await Deno.makeTempDir();
  const blank = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", OLLAMA_HOST: "" };
  const nothing = program([], { cwd, env: blank });
  assertEquals((await nothing.child.status).code, 1);
  assertEquals(await nothing.out.rest(), "");
  assertStringIncludes(await nothing.err.rest(), "switchyard demo");

  const env = { ...blank, OLLAMA_HOST: "0.0.0.0" };
  const { child, out, err } = program(["--port", "0"], { cwd, env });
  await out.until(/the providers of the environment, ollama \(OLLAMA_HOST\)/);
  await out.until(/listens on/);
  child.kill("SIGHUP");
  await err.until(/there is no configuration file to reload/);
  child.kill("SIGINT");
  assertEquals((await child.status).code, 0);
  await Promise.all([out.rest(), err.rest()]);
  await Deno.remove(cwd);
});

Deno.test("a command whose output cannot be written whole ends with 1, and one whose reader leaves with 0", async () => {
  const ended = async (script: string) => {
    const { child, out, err } = program(["schema"], {}, ["sh", "-c", script]);
    const [, problem] = await Promise.all([out.rest(), err.rest(), child.status]);
    return problem;
  };
  assertEquals(
    await ended('"$0" "$@" > /dev/full; echo "$?" >&2'),
    "The output cannot be written whole.\n1\n",
  );
  assertEquals(await ended('("$0" "$@"; echo "$?" >&2) | true'), "0\n");
});
