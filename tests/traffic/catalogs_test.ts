import { type Catalog, newCatalogs } from "../../src/traffic/catalogs.ts";
import { assertEquals } from "../support/assert.ts";

const TTL_MS = 60_000;

/** Lists with a clock that the test sets, and the number of fetches. */
function scripted() {
  let time = 0;
  let fetches = 0;
  const catalogs = newCatalogs(() => time);
  return {
    advance: (ms: number) => void (time += ms),
    fetches: () => fetches,
    get(id: string, settings: string, list: string | null | Promise<Catalog> = "m") {
      return catalogs.get({ id, settings }, TTL_MS, () => {
        fetches++;
        return list instanceof Promise ? list : Promise.resolve(catalogOf(list));
      });
    },
  };
}

function catalogOf(model: string | null): Catalog | null {
  return model === null ? null : { models: [model], created: 0 };
}

Deno.test("a list is fetched once until its time is over, a failed fetch for 30 s", async () => {
  const { get, advance, fetches } = scripted();
  for (const [list, ttl] of [["m", TTL_MS], [null, 30_000]] as const) {
    const before = fetches();
    const id = String(list);
    assertEquals(await get(id, "a", list), catalogOf(list));
    advance(ttl - 1);
    await get(id, "a", list);
    assertEquals(fetches() - before, 1);
    advance(1);
    await get(id, "a", list);
    assertEquals(fetches() - before, 2);
  }
});

Deno.test("concurrent requests share one fetch", async () => {
  const { get, fetches } = scripted();
  const { promise, resolve } = Promise.withResolvers<Catalog>();
  const lists = [get("up", "a", promise), get("up", "a", promise)];
  resolve({ models: ["m"], created: 1 });
  assertEquals((await Promise.all(lists)).map((list) => list?.created), [1, 1]);
  assertEquals(fetches(), 1);
});

Deno.test("a provider with other settings has one new list, and its former ones are gone", async () => {
  const { get } = scripted();
  for (let reload = 0; reload < 50; reload++) {
    const catalog = await get("up", `settings ${reload}`, `m${reload}`);
    assertEquals(catalog?.models, [`m${reload}`]);
  }
  // A fetch with the first settings shows that nothing of them was stored.
  assertEquals((await get("up", "settings 0", "again"))?.models, ["again"]);
});

Deno.test("a list that arrives after one with newer settings does not replace it", async () => {
  const { get, fetches } = scripted();
  const { promise, resolve } = Promise.withResolvers<Catalog>();
  const late = get("up", "old", promise);
  assertEquals((await get("up", "new", "newer"))?.models, ["newer"]);
  resolve({ models: ["older"], created: 0 });
  assertEquals((await late)?.models, ["older"]);
  assertEquals((await get("up", "new", "fetched"))?.models, ["newer"]);
  assertEquals(fetches(), 2);
});

Deno.test("above 1,000 providers the oldest list is removed", async () => {
  const { get, fetches } = scripted();
  for (let provider = 0; provider <= 1_000; provider++) await get(`up${provider}`, "a");
  assertEquals(fetches(), 1_001);
  await get("up1", "a");
  assertEquals(fetches(), 1_001);
  await get("up0", "a");
  assertEquals(fetches(), 1_002);
});

Deno.test("above 16 Mi characters of all lists the oldest ones are removed, and one alone is kept", async () => {
  const { get, fetches } = scripted();
  const list = "m".repeat(5 * 1024 * 1024);
  for (const id of ["a", "b", "c", "d"]) await get(id, "s", list);
  for (const id of ["d", "c", "b"]) await get(id, "s");
  assertEquals(fetches(), 4);
  await get("e", "s", list.repeat(4));
  await get("e", "s");
  assertEquals(fetches(), 5);
  await get("d", "s");
  assertEquals(fetches(), 6);
});
