import { isLoopbackName } from "../../src/core/loopback.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("loopback hosts are localhost, its subdomains, 127.0.0.0/8 and ::1, and no similar names", () => {
  for (const name of ["localhost", "x.localhost", "localhost.", "127.0.0.1", "127.1.2.3"]) {
    assertEquals(isLoopbackName(name), true, name);
  }
  for (const name of ["::1", "[::1]", "::ffff:7f00:1", "[::ffff:7f00:1]"]) {
    assertEquals(isLoopbackName(name), true, name);
  }
  const others = ["localhost.test", "alocalhost", "127.0.0.1.test", "126.0.0.1", "::2", "::7f00:1"];
  for (const name of others) assertEquals(isLoopbackName(name), false, name);
});
