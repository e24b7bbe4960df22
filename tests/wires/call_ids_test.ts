import { newCallIds } from "../../src/wires/call_ids.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

Deno.test("the first call with an ID keeps it, and no other call of the response gets it", () => {
  const nameCall = newCallIds(scriptedWorld());
  const given = ["a", "a", "b", "", undefined, null, 7, "a"];
  const ids = given.map(nameCall);
  assertEquals([ids[0], ids[2]], ["a", "b"]);
  assertEquals(new Set(ids).size, given.length);
  for (const [at, id] of ids.entries()) {
    if (at !== 0 && at !== 2) assert(/^call_[0-9a-f]{24}$/.test(id), id);
  }
});

Deno.test("an upstream ID equal to an ID generated in the same response is replaced", () => {
  const nameCall = newCallIds(scriptedWorld());
  const made = nameCall("");
  assert(nameCall(made) !== made);
});
