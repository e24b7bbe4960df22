import { parseKeySet } from "../../src/access/tokens/key_set.ts";
import { openGateway } from "../../src/cli/gateway_server.ts";
import { openStateStore } from "../../src/store/open_store.ts";
import type { Demand, Handed } from "../../src/workers/handed.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";
import { KEYS_URL, newSigningKey, tokenSecurity } from "../support/token_issuer.ts";
import { testClient, testTerminal } from "./test_terminal.ts";

const KEY = await newSigningKey("k1");
const NEW_KEY = await newSigningKey("k2");

/** Long after the test, because the clock is real. */
const EXP_S = 4_000_000_000;

Deno.test("in a worker an unknown key is 503 while its parent cannot refresh the keys, and 401 once it could", async () => {
  const parsed = await parseKeySet(JSON.stringify({ keys: [KEY.publicJwk] }));
  assert(parsed.ok);
  const { keys } = parsed;
  const source = `url ${KEYS_URL}`;
  const handed = (isFailing: boolean): Handed => ({
    kind: "keys",
    source,
    keys,
    ageMs: 0,
    isFailing,
  });
  const demands: Demand[] = [];
  using client = testClient();
  const server = await openGateway(
    configOf(`server: {port: 0}\n${tokenSecurity()}${oneProvider("http://127.0.0.1:1")}`),
    testTerminal(),
    openStateStore,
    {
      number: 1,
      port: 0,
      generation: 1,
      instanceId: "i",
      divide: (whole) => whole,
      scrape: () => Promise.resolve(""),
      handed: [handed(false)],
      demand: (demanded) => void demands.push(demanded),
    },
  );
  assert(server.ok);
  const { url, receive } = server;
  const [known, unknown] = [await KEY.sign({ exp: EXP_S }), await NEW_KEY.sign({ exp: EXP_S })];
  async function status(token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}` };
    const response = await client.fetch(`${url}/v1/nothing`, { headers });
    await response.body?.cancel();
    return response.status;
  }
  try {
    assertEquals([await status(known), await status(unknown)], [404, 503]);
    receive(handed(true));
    assertEquals([await status(known), await status(unknown)], [404, 503]);
    receive(handed(false));
    assertEquals([await status(known), await status(unknown)], [404, 401]);
    assertEquals(demands, [{ of: "keys", source }]);
  } finally {
    await server.close();
  }
});
