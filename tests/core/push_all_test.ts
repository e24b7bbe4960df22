import { pushAll } from "../../src/core/push_all.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("pushAll adds more items than a function call accepts arguments", () => {
  const list = [0];
  pushAll(list, Array.from({ length: 1_000_000 }, (_, at) => at + 1));
  assertEquals([list.length, list[0], list.at(-1)], [1_000_001, 0, 1_000_000]);
});
