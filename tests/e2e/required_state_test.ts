import { program } from "../cli/program.ts";
import { configFile } from "../cli/test_terminal.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { newReplicas } from "../support/replicas.ts";
import { freePort, startValkeyServer, until, valkeyTest } from "../support/valkey_server.ts";

function stateSection(port: number, isRequired: boolean): string {
  const valkey = `{url: "valkey://127.0.0.1:${port}/0", timeout: 200ms}`;
  return `state: {store: valkey, required: ${isRequired}, valkey: ${valkey}}`;
}

Deno.test("with state.required and no server the program ends with exit code 1 and one sentence", async () => {
  const port = freePort();
  using file = await configFile(`
server: {port: 0}
${stateSection(port, true)}
providers: {up: {type: compat, base_url: "http://127.0.0.1:1"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`);
  const { child, out, err } = program(["--config", file.path]);
  const [{ code }, printed, problem] = await Promise.all([child.status, out.rest(), err.rest()]);
  assertEquals([code, printed], [1, ""]);
  assertMatch(problem, /^[^\n]*state\.required[^\n]*\n$/);
});

for (const isRequired of [false, true]) {
  const away = isRequired ? 503 : 200;
  valkeyTest(
    `with state.required: ${isRequired}, /ready of an idle gateway is ${away} while its server is unavailable`,
    async () => {
      const server = await startValkeyServer();
      await using replicas = newReplicas(stateSection(server.port, isRequired));
      const replica = await replicas.start();
      const ready = async () => {
        const reply = await replica.send("/ready");
        return [reply.status, await reply.json()];
      };
      const up = [200, { status: "ready", providers: 1, state: "ok" }];
      assertEquals(await ready(), up);
      await server.kill();
      await until(async () => (await ready())[1].state === "unavailable");
      assertEquals(
        await ready(),
        isRequired
          ? [503, { status: "not_ready", state: "unavailable" }]
          : [200, { status: "ready", providers: 1, state: "unavailable" }],
      );
      await server.restart();
      await until(async () => (await ready())[1].state === "ok");
      assertEquals(await ready(), up);
      await replica.close();
      await server.close();
    },
  );
}
