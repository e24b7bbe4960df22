import { newPace } from "../../src/server/pace.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("tasks run immediately until they have taken their part of a window, then in order with pauses", async () => {
  let now = 0;
  const pace = newPace(() => now += 1);
  const ran: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const number of [1, 2, 3, 4, 5, 6]) {
    pace(() => {
      ran.push(number);
      now += 4;
      if (number === 6) resolve();
    });
  }
  assertEquals(ran, [1], "3 ms of 20 are used");
  await promise;
  assertEquals(ran, [1, 2, 3, 4, 5, 6]);
});
