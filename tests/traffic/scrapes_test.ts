import { newScrapes } from "../../src/traffic/scrapes.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("the metrics of a client hold a 32nd of the response memory, all together a quarter, the only ones more", () => {
  const scrapes = newScrapes(3_200);
  const add = (id: string, client: string, bytes: number) => scrapes.add(id, { client, bytes });
  assertEquals(add("large", "a", 1_000), true);
  assertEquals(add("next", "b", 1), false);
  scrapes.remove("large");
  assertEquals([add("1", "a", 60), add("2", "a", 41), add("3", "a", 40)], [true, false, true]);
  for (let at = 0; at < 7; at++) assertEquals(add(`b${at}`, `b${at}`, 100), true);
  assertEquals([add("c", "c", 1), add("unknown", "c", 0)], [false, true]);
  scrapes.remove("nothing");
  scrapes.remove("1");
  assertEquals([add("c", "c", 61), add("c", "c", 60)], [false, true]);
});
