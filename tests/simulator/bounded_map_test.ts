import { newBoundedMap } from "../../src/simulator/bounded_map.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("a full map evicts the value that was set first", () => {
  const map = newBoundedMap<string>({ maxValues: 2, maxCharacters: 100 }, (value) => value.length);
  for (const value of ["a", "b", "c"]) map.set(value, value);
  assertEquals(map.values(), ["b", "c"]);
  assertEquals([map.get("a"), map.get("c")], [undefined, "c"]);
});

Deno.test("the character limit counts the current size of an updated value", () => {
  const map = newBoundedMap<string>({ maxValues: 10, maxCharacters: 10 }, (value) => value.length);
  map.set("a", "12345");
  map.set("b", "12345");
  map.set("b", "1");
  map.set("c", "1234");
  assertEquals(map.values(), ["12345", "1", "1234"]);
  map.set("c", "12345");
  assertEquals(map.values(), ["1", "12345"]);
  assertEquals([map.delete("b"), map.delete("b")], [true, false]);
  map.set("d", "12345");
  assertEquals(map.values(), ["12345", "12345"]);
});

Deno.test("the value that was set last is never evicted, even above the limit", () => {
  const map = newBoundedMap<string>({ maxValues: 10, maxCharacters: 3 }, (value) => value.length);
  map.set("a", "1");
  map.set("b", "12345");
  assertEquals(map.values(), ["12345"]);
  map.set("c", "12");
  assertEquals(map.values(), ["12"]);
});
