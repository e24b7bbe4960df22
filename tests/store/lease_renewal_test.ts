import { newLeaseRenewal } from "../../src/store/lease_renewal.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

Deno.test("one timer renews the calls of all callers every 10 s, and there is none while no call runs", async () => {
  const world = scriptedWorld();
  const renewed: (readonly (readonly [string, string])[])[] = [];
  const leases = newLeaseRenewal((running) => void renewed.push([...running]), world);
  assertEquals(world.waiting, 0);
  leases.add("one", ["key ada"]);
  leases.add("two", ["key bob", "key eve"]);
  assertEquals(world.waiting, 1);
  await world.advance(10_000);
  leases.remove("one");
  leases.remove("unknown");
  await world.advance(10_000);
  assertEquals(renewed, [
    [["key ada", "one"], ["key bob", "two"], ["key eve", "two"]],
    [["key bob", "two"], ["key eve", "two"]],
  ]);
  leases.remove("two");
  assertEquals([world.waiting, leases.size], [0, 0]);
});
