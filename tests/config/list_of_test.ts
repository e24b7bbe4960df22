import { listOf } from "../../src/config/list_of.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("a list has commas, and a word before its last element", () => {
  assertEquals(listOf(["a", "b", "c"], "conjunction"), "a, b and c");
  assertEquals(listOf(["a", "b", "c"], "disjunction"), "a, b or c");
  assertEquals(listOf(["a", "b"], "disjunction"), "a or b");
  assertEquals(listOf(["a"], "conjunction"), "a");
});
