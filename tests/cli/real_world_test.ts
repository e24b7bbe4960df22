import { newRealWorld } from "../../src/cli/real_world.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";

/** The timers of the platform cannot wait longer, and fire at once instead. */
const MAX_TIMER_MS = 2 ** 31 - 1;

Deno.test("a wait below the interval of the shared timer ends by its own time, before a longer one that began earlier", async () => {
  const world = newRealWorld();
  const order: string[] = [];
  const ended = new Promise<void>((resolve) =>
    void setTimeout(() => {
      order.push("45 ms");
      resolve();
    }, 45)
  );
  world.after(5, () => void order.push("5 ms"));
  world.after(6, () => void order.push("cancelled"))();
  await ended;
  assertEquals(order, ["5 ms", "45 ms"]);
  world.after(10, () => void order.push("closed"));
  world.close();
});

Deno.test("a wait longer than the timers of the platform can be does not end at once", async () => {
  const world = newRealWorld();
  const fired: number[] = [];
  const waits = [MAX_TIMER_MS, MAX_TIMER_MS + 1, 2 ** 32 + 1, 3.6e21];
  const cancels = waits.map((ms) => world.after(ms, () => void fired.push(ms)));
  // A timer that overflows fires after 1 ms; these are looked at after it, all together.
  await new Promise<void>((resolve) => void world.after(1, () => world.after(1, resolve)));
  assertEquals(fired, []);
  for (const cancel of cancels) cancel();
  world.close();
});

Deno.test("a UUID begins with the time at which it is made, and the rest is random", () => {
  const world = newRealWorld();
  const before = Date.now();
  const ids = Array.from({ length: 100 }, () => world.uuid());
  for (const id of ids) {
    assertMatch(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const time = parseInt(id.slice(0, 13).replace("-", ""), 16);
    assert(before <= time && time <= Date.now(), id);
  }
  assertEquals(new Set(ids.map((id) => id.slice(15))).size, ids.length);
  world.close();
});
