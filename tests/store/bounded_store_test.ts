import { BoundedStore } from "../../src/store/bounded_store.ts";
import { assertEquals } from "../support/assert.ts";

function store(limits: { ttl?: number; entries?: number; bytes?: number } = {}) {
  const clock = { time: 0 };
  const kept = new BoundedStore<string>(
    { ttl: 100, entries: 3, bytes: 10, ...limits },
    () => clock.time,
  );
  return { clock, kept };
}

Deno.test("a value is returned until its maximum age, then removed with its bytes", () => {
  const { clock, kept } = store();
  kept.set("a", "x", 4);
  clock.time = 99;
  assertEquals([kept.get("a"), kept.entries, kept.bytes], ["x", 1, 4]);
  clock.time = 100;
  assertEquals([kept.get("a"), kept.entries, kept.bytes], [undefined, 0, 0]);
});

Deno.test("expired entries are not counted, also when they are never read", () => {
  const { clock, kept } = store();
  kept.set("a", "x", 4);
  clock.time = 50;
  kept.set("b", "y", 3);
  clock.time = 100;
  assertEquals([kept.bytes, kept.entries], [3, 1]);
});

Deno.test("the oldest go until a new value fits", () => {
  const { kept } = store();
  for (const key of ["a", "b", "c"]) kept.set(key, key, 3);
  kept.set("d", "d", 1);
  assertEquals(["a", "b", "c", "d"].map((key) => kept.get(key)), [undefined, "b", "c", "d"]);
  kept.set("e", "e", 7);
  assertEquals(["b", "c", "d", "e"].map((key) => kept.get(key)), [undefined, undefined, "d", "e"]);
  assertEquals(kept.bytes, 8);
});

Deno.test("setting a value again makes it young, reading it does not", () => {
  const { kept } = store();
  for (const key of ["a", "b", "c"]) kept.set(key, "old", 1);
  kept.set("a", "new", 2);
  assertEquals([kept.get("b"), kept.bytes], ["old", 4]);
  kept.set("d", "d", 1);
  assertEquals([kept.get("a"), kept.get("b")], ["new", undefined]);
});

Deno.test("a value that can never fit changes nothing", () => {
  const { kept } = store();
  kept.set("a", "x", 4);
  assertEquals(kept.set("a", "larger", 11), false);
  assertEquals(kept.set("b", "larger", 11), false);
  assertEquals([kept.get("a"), kept.entries, kept.bytes], ["x", 1, 4]);
  assertEquals(kept.set("a", "whole", 10), true);
  assertEquals(store({ entries: 0 }).kept.set("a", "x", 0), false);
});

Deno.test("delete returns whether there was an entry that had not expired", () => {
  const { clock, kept } = store();
  kept.set("a", "x", 4);
  assertEquals([kept.delete("a"), kept.delete("a"), kept.bytes], [true, false, 0]);
  kept.set("b", "y", 4);
  clock.time = 100;
  assertEquals([kept.delete("b"), kept.bytes], [false, 0]);
});

Deno.test("a reset empties the store and changes its limits", () => {
  const { clock, kept } = store();
  kept.set("a", "x", 4);
  kept.reset({ ttl: 10, entries: 1, bytes: 20 });
  assertEquals([kept.get("a"), kept.entries, kept.bytes], [undefined, 0, 0]);
  assertEquals(kept.set("b", "y", 20), true);
  clock.time = 10;
  assertEquals(kept.get("b"), undefined);
});
