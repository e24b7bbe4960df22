import { newMemoryBindings } from "../../../src/state/memory/owners.ts";
import { DEFAULT_RETENTION } from "../../../src/state/retention.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const OWNER = { provider: "p", account: "a", origin: null, creator: null };

Deno.test("the bindings of one type take at most 1 MiB by default", () => {
  const lost: string[] = [];
  const bindings = newMemoryBindings(() => 0, DEFAULT_RETENTION, (id) => void lost.push(id));
  const long = "x".repeat(100_000);
  for (let index = 0; index < 20; index++) bindings.bind(`${long}${index}`, OWNER);
  assert(bindings.stats().bytes <= 1024 * 1024);
  assertEquals([bindings.stats().entries, lost.length], [10, 10]);
  bindings.bind("y".repeat(2 * 1024 * 1024), OWNER);
  assertEquals([bindings.stats().entries, lost.length], [10, 11]);
});

Deno.test("max_entries bindings are stored, also if there are many more than by default", () => {
  const bindings = newMemoryBindings(() => 0, { ...DEFAULT_RETENTION, maxObjects: 20_000 });
  for (let index = 0; index < 20_001; index++) bindings.bind(`resp_${index}`, OWNER);
  assertEquals(bindings.stats().entries, 20_000);
  assertEquals([bindings.get("resp_0"), bindings.get("resp_1")?.kind], [null, "bound"]);
});
