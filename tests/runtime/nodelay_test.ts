import { listen } from "../../src/cli/listen.ts";
import { openSockets } from "../../src/runtime/sockets.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { oneProvider, serveGateway } from "../support/gateway.ts";
import { connectRaw } from "../server/raw_connection.ts";
import { findListeners, setListenerOptions } from "../../src/runtime/find_sockets.ts";

const SOL_TCP = 6, TCP_NODELAY = 1;

/**
 * The option of the socket of this process that lies between the two ports; null when there is
 * none.
 */
function noDelayBetween(local: number, peer: number): number | null {
  const libc = Deno.dlopen("libc.so.6", {
    getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
    getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
    getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
  });
  const { getsockname, getpeername, getsockopt } = libc.symbols;

  function port(ask: typeof getsockname, descriptor: number): number {
    const address = new Uint8Array(128);
    const size = new Uint32Array([address.length]);
    return ask(descriptor, address, size) === 0 ? new DataView(address.buffer).getUint16(2) : 0;
  }

  let found: number | null = null;
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    const descriptor = Number(name);
    if (port(getsockname, descriptor) !== local || port(getpeername, descriptor) !== peer) continue;
    const value = new Int32Array(1);
    if (getsockopt(descriptor, SOL_TCP, TCP_NODELAY, value, new Uint32Array([4])) === 0) {
      found = value[0] ?? null;
    }
  }
  libc.close();
  return found;
}

Deno.test({
  name: "accepted connections do not wait for acknowledgements",
  // Elsewhere the option is not set, and is not to be had this way.
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using gateway = serveGateway(oneProvider("http://127.0.0.1:1"));
    await using connection = await connectRaw(gateway.url);
    await connection.send("GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assertMatch(await connection.receiveUntil("}"), /"status":"ok"/);
    const port = Number(new URL(gateway.url).port);
    assertEquals(noDelayBetween(connection.port, port), 0, "the client's own socket, as a check");
    assert((noDelayBetween(port, connection.port) ?? 0) > 0);
  },
});

Deno.test("a listener sets TCP_NODELAY and its backlog on its own socket only, whatever else the process has open", () => {
  const address = { hostname: "127.0.0.1", port: 8080 };
  const locals = ["127.0.0.1 8080", "127.0.0.1 8080", "127.0.0.1 8081", null, "127.0.0.1 8080"];
  const listening = new Set([1, 2, 4]);
  const set: number[] = [];
  const backlogs: (readonly number[])[] = [];
  setListenerOptions(
    {
      bound: () => locals.length,
      local: (descriptor) => locals[descriptor] ?? null,
      isListening: (descriptor) => listening.has(descriptor),
      setNoDelay: (descriptor) => void set.push(descriptor),
      setBacklog: (...backlog) => void backlogs.push(backlog),
      dropHttp2: () => true,
    },
    address,
    true,
  );
  assertEquals(set, [1, 4]);
  assertEquals(backlogs, [[1, 4_096], [4, 4_096]]);
});

Deno.test({
  name: "accepted connections of a listener that was lost and opened again do not wait either",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const reopened = Promise.withResolvers<string>();
    const listening = listen(() => Promise.resolve(new Response("answer")), "127.0.0.1", 0, null, {
      warn: reopened.resolve,
    });
    assert(listening.ok);
    const port = Number(new URL(listening.url).port);
    loseListener(port);
    await reopened.promise;
    await using connection = await connectRaw(listening.url);
    await connection.send("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assertMatch(await connection.receiveUntil("answer"), /^HTTP\/1\.1 200 /);
    assert((noDelayBetween(port, connection.port) ?? 0) > 0);
    await listening.close();
  },
});

/**
 * Ends the listening socket of this process on the port, as the runtime does without a descriptor.
 */
function loseListener(port: number): void {
  const opened = openSockets();
  assert(opened.kind === "open");
  const { sockets } = opened;
  const [found] = findListeners(sockets, { hostname: "127.0.0.1", port });
  assert(found !== undefined);
  sockets.shutDown(found);
  sockets.close();
}
