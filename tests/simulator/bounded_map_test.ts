import { newBoundedMap } from "../../src/simulator/bounded_map.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("a full shelf drops what was put first", () => {
  const shelf = newBoundedMap<string>({ values: 2, characters: 100 }, (value) => value.length);
  for (const value of ["a", "b", "c"]) shelf.set(value, value);
  assertEquals(shelf.values(), ["b", "c"]);
  assertEquals([shelf.get("a"), shelf.get("c")], [undefined, "c"]);
});

Deno.test("characters are counted, those of a changed value anew", () => {
  const shelf = newBoundedMap<string>({ values: 10, characters: 10 }, (value) => value.length);
  shelf.set("a", "12345");
  shelf.set("b", "12345");
  shelf.set("b", "1");
  shelf.set("c", "1234");
  assertEquals(shelf.values(), ["12345", "1", "1234"]);
  shelf.set("c", "12345");
  assertEquals(shelf.values(), ["1", "12345"]);
  assertEquals([shelf.delete("b"), shelf.delete("b")], [true, false]);
  shelf.set("d", "12345");
  assertEquals(shelf.values(), ["12345", "12345"]);
});

Deno.test("the value put last stays, however large it is", () => {
  const shelf = newBoundedMap<string>({ values: 10, characters: 3 }, (value) => value.length);
  shelf.set("a", "1");
  shelf.set("b", "12345");
  assertEquals(shelf.values(), ["12345"]);
  shelf.set("c", "12");
  assertEquals(shelf.values(), ["12"]);
});
