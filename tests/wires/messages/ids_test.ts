import { toolId } from "../../../src/wires/messages/ids.ts";
import { assert, assertEquals } from "../../support/assert.ts";

Deno.test("an ID of a tool call that the Messages API accepts stays, any other one is written in its characters", () => {
  assertEquals(toolId("call_1-a"), "call_1-a");
  assert(/^a_b_[0-9a-f]{8}$/.test(toolId("a.b")));
  assert(toolId("a.b") !== toolId("a:b"));
});

Deno.test("of a long invalid ID 64 characters and the digest of all are left", () => {
  const [one, other] = [".".repeat(100_000), `${".".repeat(99_999)}:`].map(toolId);
  assertEquals(one?.length, 64 + 1 + 8);
  assert(one !== other);
  assertEquals(toolId("a".repeat(100)), "a".repeat(100));
});
