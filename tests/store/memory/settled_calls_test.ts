import { newSettledCalls } from "../../../src/store/memory/settled_calls.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("a call is settled once in ten minutes", () => {
  let time = 0;
  const calls = newSettledCalls(() => time);
  assertEquals([calls.add("a"), calls.add("a"), calls.add("b")], [true, false, true]);
  time = 599_999;
  assertEquals(calls.add("a"), false);
  time = 600_000;
  assertEquals([calls.add("a"), calls.size], [true, 1]);
});

Deno.test("at most 100,000 settled calls are remembered, and the oldest is forgotten first", () => {
  const calls = newSettledCalls(() => 0);
  for (let count = 0; count <= 100_000; count++) calls.add(`call ${count}`);
  assertEquals([calls.size, calls.add("call 1"), calls.add("call 100000")], [100_000, true, false]);
});
