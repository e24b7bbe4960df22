import fc from "fast-check";
import { Counter, Registry } from "prom-client";
import { assertEquals } from "../support/assert.ts";
import { newTally } from "../../src/observe/instruments.ts";

function newCounter() {
  const registry = new Registry();
  const settings = { name: "n", help: "h", labelNames: ["a", "b"], registers: [registry] };
  return { registry, counter: new Counter(settings) };
}

const label = fc.constantFrom("", "x", "y", "xy", "x\\", '"');

Deno.test("a counter has the same values through its tally, whenever that is flushed", async () => {
  const step = fc.record({ a: label, b: label, value: fc.nat(9), flush: fc.boolean() });
  await fc.assert(fc.asyncProperty(fc.array(step), async (steps) => {
    const [direct, tallied] = [newCounter(), newCounter()];
    const tally = newTally(tallied.counter);
    for (const { a, b, value, flush } of steps) {
      direct.counter.inc({ a, b }, value);
      tally.inc({ a, b }, value);
      if (flush) tally.flush();
    }
    tally.flush();
    assertEquals(await tallied.registry.metrics(), await direct.registry.metrics());
  }));
});

Deno.test("a sum counts once, one without a value", async () => {
  const { counter } = newCounter();
  const tally = newTally(counter);
  tally.inc({ a: "x", b: "y" });
  tally.inc({ a: "x", b: "y" });
  tally.flush();
  tally.flush();
  assertEquals((await counter.get()).values.map(({ value }) => value), [2]);
});
