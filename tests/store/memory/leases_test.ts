import { newLeases } from "../../../src/store/memory/leases.ts";
import { assertEquals } from "../../support/assert.ts";

function scripted() {
  const clock = { time: 0 };
  return { clock, leases: newLeases(() => clock.time) };
}

Deno.test("a concurrent call counts until it ends, whatever its caller is called", () => {
  const { leases } = scripted();
  for (const caller of ["a", "__proto__", ""]) {
    leases.add(caller, "one");
    leases.add(caller, "two");
    leases.add(caller, "two");
    assertEquals(leases.count(caller), 2);
    leases.remove(caller, "one");
    leases.remove(caller, "one");
    leases.remove(caller, "unknown");
    assertEquals(leases.count(caller), 1);
    leases.remove(caller, "two");
    assertEquals(leases.count(caller), 0);
  }
  assertEquals(leases.size, 0);
});

Deno.test("a concurrent call ends by itself after 30 s, unless it is renewed before", () => {
  const { clock, leases } = scripted();
  leases.add("a", "silent");
  leases.add("a", "renewed");
  clock.time = 29_999;
  leases.renew("a", "renewed");
  leases.renew("a", "unknown");
  leases.renew("b", "renewed");
  assertEquals(leases.count("a"), 2);
  clock.time = 30_000;
  assertEquals(leases.count("a"), 1);
  leases.renew("a", "silent");
  assertEquals(leases.count("a"), 1, "one that has ended is not renewed");
  clock.time = 59_999;
  leases.renew("a", "renewed");
  assertEquals([leases.count("a"), leases.size], [0, 0]);
});

Deno.test("at most 100,000 callers have concurrent calls; the one that was silent longest makes room", () => {
  const { leases } = scripted();
  for (let count = 0; count < 100_000; count++) leases.add(`caller ${count}`, "call");
  leases.renew("caller 0", "call");
  leases.add("one more", "call");
  assertEquals(leases.size, 100_000);
  assertEquals(["caller 0", "caller 1", "one more"].map(leases.count), [1, 0, 1]);
});
