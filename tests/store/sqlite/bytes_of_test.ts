import { buffersOf } from "../../../src/store/sqlite/bytes_of.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("large bytes of a message are moved, each once, and small ones are copied", () => {
  const large = new Uint8Array(5_000), other = new Uint8Array(4_096);
  const uses = [{ name: "a", body: large }, { name: "b", body: large }];
  const message = [{ ok: true, value: uses }, { value: [other, new Uint8Array(10), "text", null] }];
  assertEquals(buffersOf(message), [large.buffer, other.buffer]);
});
