import { assert, assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";
import { serveSimulator } from "../../src/cli/serve_simulator.ts";

Deno.test("a simulator that is closed ends the requests that hang after five seconds", async () => {
  const world = scriptedWorld();
  const server = serveSimulator(world, 0);
  assert(server.ok);
  const url = `${server.url}/compat/v1/chat/completions`;
  const ask = async (model: string) => {
    const messages = [{ role: "user", content: "x".repeat(3_000) }];
    const response = await fetch(url, {
      method: "POST",
      body: JSON.stringify({ model, messages }),
    });
    await response.body?.cancel();
    return response.status;
  };
  const hanging = ask("sim-hang");
  for (let count = 0; count < 3; count++) assertEquals(await ask("sim-echo"), 200);
  let isEnded = false;
  const closed = server.close();
  const status = hanging.finally(() => isEnded = true);
  await world.advance(4_999);
  assertEquals(isEnded, false);
  await world.advance(1);
  assertEquals(await status, 503);
  await closed;
});
