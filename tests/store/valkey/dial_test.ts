import { dial } from "../../../src/store/valkey/dial.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("a connection that is made at the moment at which it is given up is closed", async () => {
  using server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { hostname, port } = server.addr;
  const { connect } = Deno;
  const late = Promise.withResolvers<Deno.TcpConn>();
  Object.assign(Deno, { connect: () => late.promise });
  try {
    const { stream, abort } = dial(hostname, port, {
      isEncrypted: false,
      ca: null,
      timeoutMs: 60_000,
      forceShutdown() {},
    });
    abort();
    assertEquals(await stream.catch((error: Error) => error.message), "ETIMEDOUT");
  } finally {
    Object.assign(Deno, { connect });
  }
  late.resolve(await Deno.connect({ hostname, port }));
  using accepted = await server.accept();
  // The other side has closed it.
  assertEquals(await accepted.read(new Uint8Array(1)), null);
});
