import { newScrapes } from "../../src/traffic/scrapes.ts";
import { assertEquals } from "../support/assert.ts";

/** Scrapes of a memory of 3,200 bytes, and the IDs of those that were ended. */
function scrapesOf() {
  const ended: string[] = [];
  const { add, remove } = newScrapes(3_200);
  return {
    ended,
    remove,
    add: (id: string, client: string, bytes: number) =>
      add({ id, client, bytes, end: () => void ended.push(id) }),
  };
}

Deno.test("the metrics of a client hold a 32nd of the response memory, the only ones more", () => {
  const { add, remove, ended } = scrapesOf();
  assertEquals([add("large", "a", 500), add("more", "a", 1)], [true, false]);
  remove("large");
  assertEquals([add("1", "a", 60), add("2", "a", 41), add("3", "a", 40)], [true, false, true]);
  remove("nothing");
  remove("1");
  assertEquals([add("4", "a", 61), add("5", "a", 60)], [false, true]);
  assertEquals(ended, []);
});

Deno.test("the metrics of all clients hold a quarter of the response memory: the oldest of the one with most end for further ones", () => {
  const { add, ended } = scrapesOf();
  assertEquals(add("large", "a", 1_000), true);
  assertEquals([add("next", "b", 1), ended.splice(0)], [true, ["large"]]);
  for (let at = 1; at < 8; at++) add(`c${at}`, `c${at}`, 90);
  const further = [
    ["a1", "a", 49, true, []],
    ["a2", "a", 50, true, []],
    ["d1", "d", 60, true, []],
    ["d2", "d", 35, true, ["a1"]],
    ["d3", "d", 6, false, []],
    ["e1", "e", 30, true, ["d1"]],
    ["f1", "f", 60, true, ["c1"]],
  ] as const;
  for (const [id, client, bytes, isAdded, others] of further) {
    assertEquals([id, add(id, client, bytes), ended.splice(0)], [id, isAdded, others]);
  }
});
