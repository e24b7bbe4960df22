import { assertEquals } from "../../support/assert.ts";
import { clientNetwork } from "../../../src/server/admission/client_network.ts";

Deno.test("an IPv6 address counts for its /64, in whatever form it is written", () => {
  const network = "2001:db8:0:1::/64";
  for (const address of ["2001:db8:0:1::1", "2001:DB8::1:a:b:c:d", "2001:db8:0:1:0:0:0:0"]) {
    assertEquals(clientNetwork(address), network, address);
  }
  assertEquals(clientNetwork("fe80::1%eth0"), "fe80:0:0:0::/64");
  assertEquals(clientNetwork("::1"), "0:0:0:0::/64");
  assertEquals(clientNetwork("1:2:3:4:5:6:7::"), "1:2:3:4::/64");
});

Deno.test("an IPv4 address counts for itself, also inside an IPv6 address", () => {
  assertEquals(clientNetwork("192.0.2.1"), "192.0.2.1");
  assertEquals(clientNetwork("::ffff:192.0.2.1"), "192.0.2.1");
  assertEquals(clientNetwork("::FFFF:c000:201"), "192.0.2.1");
  assertEquals(clientNetwork("0:0:0:0:0:ffff:192.0.2.255"), "192.0.2.255");
});

Deno.test("a text that is no address is its own network", () => {
  assertEquals(clientNetwork(""), "");
  assertEquals(clientNetwork("not:an:address"), "not:an:address");
});
