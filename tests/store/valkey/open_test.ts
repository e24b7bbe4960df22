import { valueSilenceMs } from "../../../src/store/valkey/open.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("a connection for stored content may be silent for the timeout, and for at least 2 s", () => {
  assertEquals([500, 2_000, 3_000].map(valueSilenceMs), [2_000, 2_000, 3_000]);
});
