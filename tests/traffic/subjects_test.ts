import { OTHER_CLIENT } from "../../src/core/usage_row.ts";
import { MAX_SUBJECTS, newSubjects } from "../../src/traffic/subjects.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

function subjects() {
  const world = scriptedWorld();
  return { world, ...newSubjects(() => world.now()) };
}

const IDLE = { busyMs: 0, refillMs: 0 };

Deno.test("a pool counts as many clients as it may, and a client with nothing left makes room", async () => {
  const { enter, leave, world } = subjects();
  assertEquals([enter("p", "a", 2), enter("p", "b", 2), enter("p", "c", 2)], [true, true, false]);
  assertEquals(enter("q", "c", 2), true, "another pool");
  leave("p", "a", { busyMs: 1_000, refillMs: 0 });
  assertEquals([enter("p", "c", 2), enter("p", "b", 2)], [false, true]);
  await world.advance(1_000);
  assertEquals([enter("p", "c", 2), enter("p", "a", 2)], [true, false]);
});

Deno.test("a client with a running call, or with tokens that delay its rate, makes no room", async () => {
  const { enter, leave, world } = subjects();
  enter("p", "a", 1);
  enter("p", "a", 1);
  leave("p", "a", IDLE);
  assertEquals(enter("p", "b", 1), false);
  leave("p", "a", { busyMs: 0, refillMs: 500 });
  enter("p", "a", 1);
  leave("p", "a", { busyMs: 0, refillMs: 500 });
  await world.advance(999);
  assertEquals(enter("p", "b", 1), false);
  await world.advance(1);
  assertEquals(enter("p", "b", 1), true);
});

Deno.test("all pools count 110,000 clients, and one with nothing left to count makes room for another pool", async () => {
  const { enter, leave, world } = subjects();
  for (let at = 0; at < 100_000; at++) enter("p", `c${at}`, 100_000);
  for (let at = 0; at < 10_000; at++) enter("q", `c${at}`, 100_000);
  assertEquals([enter("r", "a", 1), enter("q", "c0", 100_000)], [false, true]);
  leave("p", "c7", { busyMs: 1_000, refillMs: 0 });
  assertEquals(enter("r", "a", 1), false);
  await world.advance(1_000);
  assertEquals([enter("r", "a", 1), enter("q", "more", 100_000)], [true, false]);
});

Deno.test("a full pool of 10,000 clients is looked at every 100 ms at most, however many new ones come", async () => {
  const { enter, leave, world } = subjects();
  for (let at = 0; at < 10_000; at++) {
    enter("p", `c${at}`, 10_000);
    leave("p", `c${at}`, { busyMs: 1_000 + at, refillMs: 0 });
  }
  await world.advance(1_000);
  assertEquals([enter("p", "new", 10_000), enter("p", "more", 10_000)], [true, false]);
  await world.advance(99);
  assertEquals(enter("p", "more", 10_000), false);
  await world.advance(1);
  const entered = Array.from({ length: 200 }, (_, at) => enter("p", `more ${at}`, 10_000));
  assertEquals(entered.filter(Boolean).length, 100);
});

Deno.test("a client that a store knows from before the start is counted, and finds room in a full pool until its windows have ended", async () => {
  const world = scriptedWorld();
  const stored = new Map([["ada", 1_000], ["bob", 1_000]]);
  const made = newSubjects(() => world.now(), stored);
  assertEquals(made.size, 2);
  assertEquals([made.enter("p", "new", 1), made.enter("p", "ada", 1)], [true, true]);
  assertEquals([made.size, made.enter("p", "other", 1)], [3, false]);
  made.leave("p", "ada", IDLE);
  made.leave("p", "new", { busyMs: 5_000, refillMs: 0 });
  assertEquals(made.enter("p", "other", 2), false);
  await world.advance(1_000);
  assertEquals(made.enter("p", "other", 2), true);
});

Deno.test("of 100,000 clients 10,000 are counted, and have rows of usage", () => {
  const made = newSubjects(() => 0);
  let counted = 0;
  for (let at = 0; at < 100_000; at++) {
    if (made.enter("tokens", `c${at}`, MAX_SUBJECTS)) counted += 1;
  }
  assertEquals([counted, made.size], [10_000, 10_000]);
  const names = new Set<string>();
  for (let at = 0; at < 100_000; at++) names.add(made.usageName("2023-11-14", `c${at}`));
  assertEquals([names.size, names.has(OTHER_CLIENT)], [10_001, true]);
  assertEquals(made.usageName("2023-11-15", "c99999"), "c99999");
});
