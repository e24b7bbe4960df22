import { assert, assertEquals } from "../support/assert.ts";
import { FAILS, HOUR_MS, issues, refreshing, token } from "./scripted_source.ts";

const MINUTE_MS = 60_000;

Deno.test("a credential is replaced a fifth of its time before its end, over three lifetimes", async () => {
  const { world, fetches, text, state } = refreshing((n, world) => issues(`t${n}`, world, HOUR_MS));
  await world.advance(0);
  assertEquals([text(), state()], ["t1", "fresh"]);
  for (let at = 0; at < 3 * HOUR_MS; at += MINUTE_MS) {
    await world.advance(MINUTE_MS);
    assert(text() !== null);
  }
  assertEquals(fetches, [0, 48, 96, 144].map((minutes) => minutes * MINUTE_MS));
});

Deno.test("the time before the end is at least 5 minutes, and refresh_before replaces it", async () => {
  const cases = [[10, null, 5], [20, null, 15], [60, 30 * MINUTE_MS, 30]] as const;
  for (const [minutes, beforeMs, dueMinutes] of cases) {
    const answer = refreshing((n, world) => issues(`t${n}`, world, minutes * MINUTE_MS), {
      beforeMs,
    });
    await answer.world.advance(dueMinutes * MINUTE_MS);
    assertEquals(answer.fetches, [0, dueMinutes * MINUTE_MS]);
  }
});

Deno.test("many gateways refresh at different times, always earlier and never later", async () => {
  for (const [random, dueMs] of [[0, 48], [0.5, 47.4], [1, 46.8]] as const) {
    const one = refreshing((n, world) => issues(`t${n}`, world, HOUR_MS), { random: [random] });
    await one.world.advance(48 * MINUTE_MS);
    assertEquals(one.fetches, [0, dueMs * MINUTE_MS]);
  }
});

Deno.test("a short credential is used for half of its time, and not replaced in a loop", async () => {
  const one = refreshing((n, world) => issues(`t${n}`, world, 2 * MINUTE_MS));
  await one.world.advance(3 * MINUTE_MS);
  assertEquals(one.fetches, [0, 1, 2, 3].map((minutes) => minutes * MINUTE_MS));
  // An endpoint that hands out the same credential until it ends.
  const { world, fetches } = refreshing((_n, world) => issues("t", world, 60_000 - world.now()));
  await world.advance(50_000);
  assertEquals(fetches, [0, 30_000, 45_000]);
});

Deno.test("failed refreshes are repeated after 1 s, then twice as long up to a minute, with jitter", async () => {
  const half = refreshing(() => FAILS, { random: Array.from({ length: 20 }, () => 0.5) });
  await half.world.advance(190_000);
  assertEquals(half.fetches, [0, 1, 3, 7, 15, 31, 63, 123, 183].map((s) => s * 1_000));
  const least = refreshing(() => FAILS, { random: [0, 1] });
  await least.world.advance(4_000);
  assertEquals(least.fetches, [0, 800, 3_200]);
});

Deno.test("the old credential is used until 10 s before its end while refreshes fail", async () => {
  const { world, text, state, results, fetches } = refreshing((n, world) =>
    n === 1 || world.now() > 2 * HOUR_MS ? issues(`t${n}`, world, HOUR_MS) : FAILS
  );
  await world.advance(0);
  const states = new Map<string, number>();
  for (; world.now() < 2 * HOUR_MS; await world.advance(10_000)) {
    assertEquals(text() === null, state() === "gone");
    states.set(state(), world.now());
  }
  assertEquals([...states], [
    ["fresh", 48 * MINUTE_MS - 10_000],
    ["late", HOUR_MS - 20_000],
    ["gone", 2 * HOUR_MS - 10_000],
  ]);
  assertEquals(results.slice(0, 2), [null, "it failed"]);
  await world.advance(MINUTE_MS);
  assertEquals([text(), state()], [`t${fetches.length}`, "fresh"]);
});

Deno.test("a refresh that hangs is the only one, and begins again once it has ended", async () => {
  const held = Promise.withResolvers<void>();
  const { world, fetches, refresher, text } = refreshing(async (n, world) => {
    if (n === 2) await held.promise;
    return issues(`t${n}`, world, HOUR_MS);
  });
  await world.advance(48 * MINUTE_MS);
  for (let n = 0; n < 200; n++) void refresher.renew();
  await world.advance(5 * MINUTE_MS);
  assertEquals([fetches.length, text()], [2, "t1"]);
  held.resolve();
  await world.advance(0);
  assertEquals([fetches.length, text()], [2, "t2"]);
});

Deno.test("refused requests refresh a credential once in 30 s", async () => {
  const { world, fetches, refresher } = refreshing((n, world) => issues(`t${n}`, world, HOUR_MS));
  await world.advance(1_000);
  for (const _ of Array(50)) await refresher.renew();
  assertEquals(fetches, [0, 1_000]);
  await world.advance(29_999);
  await refresher.renew();
  assertEquals(fetches.length, 2);
  await world.advance(1);
  await refresher.renew();
  assertEquals(fetches.length, 3);
});

Deno.test("refused requests look at a file once in a second", async () => {
  const { world, fetches, refresher } = refreshing(() => FAILS, { everyMs: 10_000 });
  await world.advance(500);
  for (const _ of Array(50)) await refresher.renew();
  await world.advance(999);
  await refresher.renew();
  assertEquals(fetches, [0, 500]);
  await world.advance(1);
  await refresher.renew();
  assertEquals(fetches, [0, 500, 1_500]);
});

Deno.test("a clock that is set forward refreshes within a minute", async () => {
  let aheadMs = 0;
  const { world, fetches, holder } = refreshing((n, world) => {
    return { ok: true, issued: token(`t${n}`, world.wall() + HOUR_MS) };
  });
  const wall = world.wall;
  Object.assign(world, { wall: () => wall() + aheadMs });
  await world.advance(1_000);
  aheadMs = 2 * HOUR_MS;
  assertEquals(holder.state(world.wall()), "gone");
  await world.advance(MINUTE_MS);
  assertEquals(fetches.length, 2);
  assertEquals(holder.state(world.wall()), "fresh");
});

Deno.test("a clock that is set back an hour delays no refresh, no repeat and no look at a file", async () => {
  const cases = [
    [refreshing((n, world) => issues(`t${n}`, world, HOUR_MS)), 48 * MINUTE_MS],
    [refreshing(() => FAILS), 800],
    [refreshing(() => FAILS, { everyMs: 10_000 }), 10_000],
  ] as const;
  for (const [{ world, fetches }, dueMs] of cases) {
    await world.advance(0);
    const wall = world.wall;
    Object.assign(world, { wall: () => wall() - HOUR_MS });
    await world.advance(dueMs);
    assertEquals(fetches, [0, dueMs]);
  }
});

Deno.test("a source that is looked at counts no refresh until its credential has changed", async () => {
  const texts = ["a", "a", "a", "b", "b"];
  const { world, results, fetches, text, holder } = refreshing(
    (n) => ({ ok: true, issued: token(texts[n - 1] ?? "b", null) }),
    { everyMs: 10_000 },
  );
  await world.advance(40_000);
  assertEquals([fetches.length, results, text()], [5, [null, null], "b"]);
  assertEquals(holder.secrets(), ["b", "a"]);
});

Deno.test("a closed refresher fetches no more, and drops what still arrives", async () => {
  const held = Promise.withResolvers<void>();
  const { world, fetches, refresher, holder } = refreshing(async (n, world) => {
    if (n === 2) await held.promise;
    return issues(`t${n}`, world, HOUR_MS);
  });
  await world.advance(48 * MINUTE_MS);
  refresher.close();
  held.resolve();
  await world.advance(2 * HOUR_MS);
  assertEquals([fetches.length, world.waiting], [2, 0]);
  assertEquals(holder.issued()?.secret, { kind: "token", token: "t1" });
});
