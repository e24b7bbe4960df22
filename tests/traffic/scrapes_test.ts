import { newScrapes } from "../../src/traffic/scrapes.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("a client has at most four scrapes, all together a quarter of the response memory, and one alone any size", () => {
  const scrapes = newScrapes(400);
  const add = (id: string, client: string, bytes: number) => scrapes.add(id, { client, bytes });
  assertEquals(add("large", "a", 1_000), true);
  assertEquals(add("next", "b", 1), false);
  scrapes.remove("large");
  const own = ["1", "2", "3", "4", "5"].map((id) => add(id, "a", 10));
  assertEquals(own, [true, true, true, true, false]);
  assertEquals([add("6", "b", 61), add("7", "b", 60)], [false, true]);
  scrapes.remove("unknown");
  scrapes.remove("1");
  assertEquals([add("8", "a", 11), add("8", "a", 10)], [false, true]);
});
