import { loadKey } from "../../src/routing/key_pool.ts";
import type { Target } from "../../src/wires/wire.ts";
import { assertEquals } from "../support/assert.ts";

function target(model: string): Parameters<typeof loadKey>[0] {
  return { provider: { id: "up" }, wire: { name: "compat" }, model } as Target;
}

Deno.test("the key of a load names provider, protocol and the beginning of the model, which clients choose", () => {
  assertEquals(loadKey(target("m")), "up compat m");
  assertEquals(loadKey(target("m".repeat(100_000))), `up compat ${"m".repeat(256)}`);
});
