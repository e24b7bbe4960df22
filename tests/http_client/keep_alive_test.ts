import { newKeepAlive } from "../../src/http_client/keep_alive.ts";
import { assertEquals } from "../support/assert.ts";
import { textOf } from "./heard.ts";
import { answering, plain, post, server } from "./server.ts";
import { libcPath } from "../../src/runtime/sockets.ts";

/** SO_KEEPALIVE, TCP_NODELAY, TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_KEEPCNT of Linux. */
const OPTIONS = [[1, 9], [6, 1], [6, 4], [6, 5], [6, 6]] as const;

/** The options of every socket of this process that is connected to this port. */
function optionsOf(port: number): number[][] {
  const libc = Deno.dlopen(libcPath() ?? "", {
    getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
    getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  });
  const address = new Uint8Array(28);
  const found: number[][] = [];
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    const size = new Uint32Array([address.length]);
    // The address of a local socket pair is shorter, and would leave the last port in the buffer.
    address.fill(0);
    if (libc.symbols.getpeername(Number(name), address, size) !== 0) continue;
    if (new DataView(address.buffer).getUint16(2) !== port) continue;
    found.push(OPTIONS.map(([level, option]) => {
      const value = new Int32Array(1);
      const length = new Uint32Array([4]);
      libc.symbols.getsockopt(Number(name), level, option, value, length);
      return value[0] ?? -1;
    }));
  }
  libc.close();
  return found;
}

Deno.test("the first keep-alive probe of every connection is sent after 30 s, the next three every 15 s", async () => {
  if (libcPath() === undefined) return assertEquals(newKeepAlive().close(), undefined);
  await using served = server(answering(() => plain("a")));
  const { client, url, port } = served;
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => client.send(url, post("x"))),
  );
  assertEquals(optionsOf(port), Array.from({ length: 20 }, () => [1, 1, 30, 15, 4]));
  await Promise.all(answers.map(textOf));
});

Deno.test("the descriptor of a connection is found also after lower descriptors became free", async () => {
  if (libcPath() === undefined) return assertEquals(newKeepAlive().close(), undefined);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const before = await Promise.all(Array.from({ length: 50 }, () => Deno.open("/dev/null")));
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  using _accepted = await listener.accept();
  for (const file of before) file.close();
  const keepAlive = newKeepAlive();
  keepAlive.turnOn(connection);
  keepAlive.close();
  assertEquals(optionsOf(listener.addr.port), [[1, 1, 30, 15, 4]]);
  // A closed one does nothing, and throws nothing.
  keepAlive.turnOn(connection);
});
