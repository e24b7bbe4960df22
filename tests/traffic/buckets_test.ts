import { newBuckets, newBucketsByKind } from "../../src/traffic/buckets.ts";
import { assert, assertEquals } from "../support/assert.ts";

const SETTINGS = { requests_per_minute: 60, burst_size: 3 };

function scripted() {
  const clock = { time: 0 };
  return { clock, all: newBuckets(() => clock.time) };
}

Deno.test("a bucket gives its burst at once and then one token each time its rate allows", () => {
  const { clock, all } = scripted();
  const take = () => all.take("a", SETTINGS);
  assertEquals([take(), take(), take()].map(({ remaining }) => remaining), [2, 1, 0]);
  assertEquals(take(), { isTaken: false, remaining: 0, waitMs: 1000 });
  clock.time = 999;
  assertEquals(take(), { isTaken: false, remaining: 0, waitMs: 1 });
  clock.time = 1000;
  assertEquals(take(), { isTaken: true, remaining: 0, waitMs: 0 });
  clock.time = 60_000;
  assertEquals(take().remaining, 2);
});

Deno.test("a caller that waits for the reported time gets a token, whatever the rate", () => {
  for (let requests_per_minute = 1; requests_per_minute < 2_000; requests_per_minute++) {
    const { clock, all } = scripted();
    const settings = { requests_per_minute, burst_size: 7 };
    for (let round = 0; round < 20; round++) {
      const { isTaken, waitMs } = all.take("a", settings);
      assertEquals(isTaken, waitMs === 0);
      if (isTaken) continue;
      clock.time += waitMs;
      assert(all.take("a", settings).isTaken, `${requests_per_minute}`);
    }
  }
});

Deno.test("callers do not take each other's tokens", () => {
  const { all } = scripted();
  for (const caller of ["a", "b", "__proto__", ""]) {
    assertEquals(all.take(caller, { ...SETTINGS, burst_size: 1 }).isTaken, true);
    assertEquals(all.take(caller, { ...SETTINGS, burst_size: 1 }).isTaken, false);
  }
});

Deno.test("changed settings count from the next request on", () => {
  const { clock, all } = scripted();
  for (let count = 0; count < 3; count++) all.take("a", SETTINGS);
  const faster = { requests_per_minute: 6_000, burst_size: 3 };
  assertEquals(all.take("a", faster).waitMs, 10);
  clock.time = 10;
  assertEquals(all.take("a", faster).isTaken, true);
  const larger = { requests_per_minute: 6_000, burst_size: 10 };
  assertEquals(all.take("a", larger).remaining, 6);
});

Deno.test("above the limit full buckets are removed first, then the least recently used", () => {
  const { clock, all } = scripted();
  const once = { requests_per_minute: 1, burst_size: 1 };
  all.take("old", once);
  all.take("soon full", { requests_per_minute: 60_000, burst_size: 1 });
  for (let count = 0; count < 9_998; count++) all.take(`filler ${count}`, once);
  assertEquals(all.size, 10_000);
  clock.time = 1;
  all.take("new", once);
  assertEquals([all.size, all.take("old", once).isTaken], [10_000, false]);
  all.take("newer", once);
  assertEquals(all.take("old", once).isTaken, false, "asked a moment ago");
  assertEquals(all.take("filler 1", once).isTaken, false);
  assertEquals(all.take("filler 0", once).isTaken, true, "the one forgotten");
  assertEquals(all.size, 10_000);
});

Deno.test("there are at most 10,000 buckets, and full buckets are removed first", () => {
  const { clock, all } = scripted();
  for (let count = 0; count < 30_000; count++) all.take(`caller ${count}`, SETTINGS);
  assertEquals(all.size, 10_000);
  clock.time = 1_000;
  all.take("one more", SETTINGS);
  assertEquals(all.size, 1);
});

Deno.test("buckets that become full later make room later", () => {
  const { clock, all } = scripted();
  const every = (seconds: number) => ({ requests_per_minute: 60 / seconds, burst_size: 1 });
  for (let count = 0; count < 5_000; count++) all.take(`fast ${count}`, every(1));
  for (let count = 0; count < 5_000; count++) all.take(`slow ${count}`, every(2));
  clock.time = 1_000;
  for (let count = 0; count < 5_000; count++) all.take(`slower ${count}`, every(60));
  assertEquals(all.size, 10_000);
  clock.time = 2_000;
  all.take("one more", every(60));
  assertEquals(all.size, 5_001);
});

Deno.test("a look at a bucket returns what a call would get, and takes nothing", () => {
  const { clock, all } = scripted();
  assertEquals(all.look("a", SETTINGS), { remaining: 3, waitMs: 0 });
  assertEquals(all.size, 0);
  for (let count = 0; count < 3; count++) all.take("a", SETTINGS);
  clock.time = 400;
  assertEquals(all.look("a", SETTINGS), { remaining: 0, waitMs: 600 });
  assertEquals(all.look("a", SETTINGS), { remaining: 0, waitMs: 600 });
  clock.time = 1_000;
  assertEquals(all.look("a", SETTINGS), { remaining: 1, waitMs: 0 });
});

Deno.test("a bucket may be charged below zero as far as its debt permits, and has no token until it is paid", () => {
  const clock = { time: 0 };
  const all = newBuckets(() => clock.time, 30_000);
  all.charge("a", SETTINGS, 5);
  assertEquals(all.look("a", SETTINGS), { remaining: -2, waitMs: 3_000 });
  assertEquals([all.lacking("a"), all.lacking("b")], [5_000, 0]);
  assertEquals(all.take("a", SETTINGS).isTaken, false);
  clock.time = 3_000;
  assertEquals(all.look("a", SETTINGS), { remaining: 1, waitMs: 0 });
  all.charge("a", SETTINGS, Number.MAX_VALUE);
  assertEquals(all.look("a", SETTINGS), { remaining: -30, waitMs: 31_000 });
  all.clear();
  assertEquals([all.size, all.look("a", SETTINGS).remaining], [0, 3]);
});

Deno.test("without a permitted debt a charge takes all tokens and no more", () => {
  const { all } = scripted();
  all.charge("a", SETTINGS, 50);
  assertEquals(all.look("a", SETTINGS), { remaining: 0, waitMs: 1_000 });
});

Deno.test("wrong keys from 30,000 networks never push out the bucket of a key", () => {
  const all = newBucketsByKind(() => 0);
  const once = { requests_per_minute: 1, burst_size: 1 };
  assertEquals(all.take("key ada", once).isTaken, true);
  for (let count = 0; count < 30_000; count++) all.take(`address 10.0.${count}`, once);
  assertEquals([all.size, all.take("key ada", once).isTaken], [10_001, false]);
  all.charge("address late", SETTINGS, 2);
  assertEquals(all.look("address late", SETTINGS).remaining, 1);
  assertEquals(all.lacking("address late"), 2_000);
  all.clear();
  assertEquals([all.size, all.take("key ada", once).isTaken], [0, true]);
});
