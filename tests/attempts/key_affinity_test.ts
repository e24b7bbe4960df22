import { assert, assertEquals } from "../support/assert.ts";
import { poolConfig, type PoolGateway, poolGateway, refusal } from "../support/pool_gateway.ts";

const AFFINITY = { settings: "key_affinity: session" };
const THREE_KEYS = "{name: a, value: sk-a}, {name: b, value: sk-b}, {name: c, value: sk-c}";

/** The key that serves the next call of a session. */
async function keyOf(pool: PoolGateway, name: string): Promise<string> {
  const keys = await pool.keysOf({ headers: { "session-id": name } });
  return keys.at(-1) ?? "";
}

Deno.test("the calls of a session stay with one key in every replica, also when the values of the keys change", async () => {
  const pool = poolGateway(poolConfig(THREE_KEYS, AFFINITY));
  const renewed = poolGateway(poolConfig(THREE_KEYS.replaceAll("sk-", "new-"), AFFINITY));
  const homes = new Set<string>();
  for (let n = 0; n < 12; n++) {
    const home = await keyOf(pool, `s${n}`);
    assertEquals([await keyOf(pool, `s${n}`), await keyOf(pool, `s${n}`)], [home, home]);
    assertEquals(await keyOf(renewed, `s${n}`), home.replace("sk-", "new-"));
    homes.add(home);
  }
  assertEquals(homes.size, 3);
});

Deno.test("a session moves while its key rests, and comes back", async () => {
  const pool = poolGateway(poolConfig(THREE_KEYS, AFFINITY));
  const home = await keyOf(pool, "s");
  pool.answer(home, refusal(429));
  const other = await keyOf(pool, "s");
  assert(other !== home);
  assertEquals([await keyOf(pool, "s"), await keyOf(pool, "s")], [other, other]);
  pool.answer(home, null);
  await pool.world.advance(60_000);
  assertEquals(await keyOf(pool, "s"), home);
});

Deno.test("without a session, and without key_affinity, the keys take turns", async () => {
  const taken = async (pool: PoolGateway, headers: Readonly<Record<string, string>>) => {
    const keys = [];
    for (let n = 0; n < 3; n++) keys.push(...await pool.keysOf({ headers }));
    return new Set(keys).size;
  };
  assertEquals(await taken(poolGateway(poolConfig(THREE_KEYS, AFFINITY)), {}), 3);
  assertEquals(await taken(poolGateway(poolConfig(THREE_KEYS)), { "session-id": "s" }), 3);
});

Deno.test("sessions are shared by the weights of the keys, and a key of weight 0 gets none", async () => {
  const keys =
    "{name: a, value: sk-a, weight: 3}, {name: b, value: sk-b}, {name: c, value: sk-c, weight: 0}";
  const pool = poolGateway(poolConfig(keys, AFFINITY));
  const sessions = 400;
  for (let n = 0; n < sessions; n++) await keyOf(pool, `s${n}`);
  const share = pool.keys().filter((key) => key === "sk-a").length / sessions;
  assert(Math.abs(share - 0.75) < 0.06, `${share}`);
  assert(!pool.keys().includes("sk-c"));
});
