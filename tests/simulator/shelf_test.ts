import { newShelf } from "../../src/simulator/shelf.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("a full shelf drops what was put first", () => {
  const shelf = newShelf<string>({ values: 2, characters: 100 }, (value) => value.length);
  for (const value of ["a", "b", "c"]) shelf.put(value, value);
  assertEquals(shelf.all(), ["b", "c"]);
  assertEquals([shelf.get("a"), shelf.get("c")], [undefined, "c"]);
});

Deno.test("characters are counted, those of a changed value anew", () => {
  const shelf = newShelf<string>({ values: 10, characters: 10 }, (value) => value.length);
  shelf.put("a", "12345");
  shelf.put("b", "12345");
  shelf.put("b", "1");
  shelf.put("c", "1234");
  assertEquals(shelf.all(), ["12345", "1", "1234"]);
  shelf.put("c", "12345");
  assertEquals(shelf.all(), ["1", "12345"]);
  assertEquals([shelf.drop("b"), shelf.drop("b")], [true, false]);
  shelf.put("d", "12345");
  assertEquals(shelf.all(), ["12345", "12345"]);
});

Deno.test("the value put last stays, however large it is", () => {
  const shelf = newShelf<string>({ values: 10, characters: 3 }, (value) => value.length);
  shelf.put("a", "1");
  shelf.put("b", "12345");
  assertEquals(shelf.all(), ["12345"]);
  shelf.put("c", "12");
  assertEquals(shelf.all(), ["12"]);
});
