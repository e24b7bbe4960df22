import { dial } from "../../../src/store/valkey/dial.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";

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
      forceShutdown: Object.assign(() => {}, { close() {} }),
    });
    abort();
    assertEquals(await stream.catch((error: Error) => error.message), "ETIMEDOUT");
  } finally {
    Object.assign(Deno, { connect });
  }
  const made = await Deno.connect({ hostname, port });
  late.resolve(made);
  await late.promise;
  assertThrows(() => made.close());
  (await server.accept()).close();
});
