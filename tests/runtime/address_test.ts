import { parseSocketAddress } from "../../src/runtime/address.ts";
import { openSockets } from "../../src/runtime/sockets.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** A `sockaddr_in6` with these groups and the port 258. */
function ipv6(...groups: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(28);
  bytes.set([10, 0, 1, 2]);
  groups.forEach((group, index) => bytes.set([group >> 8, group & 0xff], 8 + 2 * index));
  return bytes;
}

Deno.test("addresses are written in the form of RFC 5952, with their port", () => {
  const bytes = new Uint8Array(28);
  bytes.set([2, 0, 0x1f, 0x90, 192, 0, 2, 7]);
  assertEquals(parseSocketAddress(bytes), "192.0.2.7 8080");
  const cases: readonly (readonly [string, readonly number[]])[] = [
    ["::", [0, 0, 0, 0, 0, 0, 0, 0]],
    ["::1", [0, 0, 0, 0, 0, 0, 0, 1]],
    ["2001:db8::", [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]],
    ["2001:db8::1:0:0:1", [0x2001, 0xdb8, 0, 0, 1, 0, 0, 1]],
    ["2001:0:0:1::1", [0x2001, 0, 0, 1, 0, 0, 0, 1]],
    ["2001:db8:0:1:1:1:1:1", [0x2001, 0xdb8, 0, 1, 1, 1, 1, 1]],
    ["::ffff:192.0.2.7", [0, 0, 0, 0, 0, 0xffff, 0xc000, 0x207]],
  ];
  for (const [text, groups] of cases) {
    assertEquals(parseSocketAddress(ipv6(...groups)), `${text} 258`);
  }
  assertEquals(parseSocketAddress(new Uint8Array(28)), null);
});

Deno.test("the addresses of a connection are the same as the runtime reports", async () => {
  const opened = openSockets();
  assert(opened.kind === "open");
  const { sockets } = opened;
  for (const [host, target] of [["0.0.0.0", "127.0.0.1"], ["::", "127.0.0.1"], ["::1", "::1"]]) {
    using listener = Deno.listen({ hostname: host ?? "", port: 0 });
    const connecting = Deno.connect({ hostname: target ?? "", port: listener.addr.port });
    using accepted = await listener.accept();
    using connection = await connecting;
    for (const { localAddr, remoteAddr } of [accepted, connection]) {
      const local = `${localAddr.hostname} ${localAddr.port}`;
      const remote = `${remoteAddr.hostname} ${remoteAddr.port}`;
      const descriptors = Array.from({ length: sockets.bound() }, (_, descriptor) => descriptor)
        .filter((one) => sockets.local(one) === local && sockets.remote(one) === remote);
      assertEquals(descriptors.length, 1, `${local} ${remote}`);
    }
  }
  sockets.close();
});
