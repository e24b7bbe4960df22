import { newBoundedMap } from "../../src/simulator/bounded_map.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("a full map drops what was put first", () => {
  const map = newBoundedMap<string>({ maxValues: 2, maxCharacters: 100 }, (value) => value.length);
  for (const value of ["a", "b", "c"]) map.set(value, value);
  assertEquals(map.values(), ["b", "c"]);
  assertEquals([map.get("a"), map.get("c")], [undefined, "c"]);
});

Deno.test("characters are counted, those of a changed value anew", () => {
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

Deno.test("the value put last stays, however large it is", () => {
  const map = newBoundedMap<string>({ maxValues: 10, maxCharacters: 3 }, (value) => value.length);
  map.set("a", "1");
  map.set("b", "12345");
  assertEquals(map.values(), ["12345"]);
  map.set("c", "12");
  assertEquals(map.values(), ["12"]);
});
