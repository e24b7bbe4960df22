import { newSimulator } from "../../src/simulator/simulator.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { chatRequest, got } from "../support/chat_call.ts";
import { serveGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

/** Rounds of concurrent calls; the key dies between two of them. */
const MAX_ROUNDS = 6;

/** Concurrent calls of a round, half of them streams. */
const MAX_CALLS = 20;

for (const status of [401, 429]) {
  Deno.test(`no client sees a key that is refused with ${status} from one moment on`, async () => {
    const refused = new Map<string, number>();
    const used = new Map<string, number>();
    const simulate = newSimulator(scriptedWorld(), refused);
    await using upstream = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => {
        const key = request.headers.get("authorization") ?? "";
        used.set(key, (used.get(key) ?? 0) + 1);
        return simulate(request);
      },
    );
    await using gateway = serveGateway(`
providers:
  up:
    type: compat
    base_url: "http://127.0.0.1:${upstream.addr.port}/v1"
    api_keys: [{name: a, value: sk-a}, {name: b, value: sk-b}, {name: c, value: sk-c}]
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`);

    async function round(): Promise<readonly boolean[]> {
      return await Promise.all(Array.from({ length: MAX_CALLS }, async (_, n) => {
        const stream = n % 2 === 0;
        const body = {
          model: "sim-echo",
          stream,
          messages: [{ role: "user", content: `call ${n}` }],
        };
        const { url } = gateway;
        const { status, text } = await got(await fetch(chatRequest({ url, body })));
        return status === 200 && text.includes("call") && (!stream || text.includes("[DONE]"));
      }));
    }

    for (let at = 0; at < MAX_ROUNDS; at++) {
      if (at === 2) refused.set("sk-a", status);
      assertEquals((await round()).filter((isServed) => !isServed), []);
    }
    await gateway.reported(MAX_ROUNDS * MAX_CALLS);
    const calls = used.get("Bearer sk-a") ?? 0;
    assert(calls > 0 && calls <= 3 * MAX_CALLS, `${calls} calls with the refused key`);
    const warnings = gateway.log.filter((line) => line.includes("refused a key"));
    assertEquals(warnings.length, status === 429 ? 0 : 1);
    assert(gateway.reports.every(({ attempts }) => attempts.length <= 2));
  });
}
