import { connect } from "node:net";
import { openSockets, type Sockets } from "../../src/runtime/sockets.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** Calls the task with the two ends of a connection and the descriptor of the accepted one. */
async function withConnection(
  task: (
    sockets: Sockets,
    descriptor: number,
    ends: { readonly accepted: Deno.TcpConn; readonly client: Deno.TcpConn },
  ) => Promise<void>,
) {
  const opened = openSockets();
  assert(opened.kind === "open");
  const { sockets } = opened;
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connecting = Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  using accepted = await listener.accept();
  using client = await connecting;
  const { hostname, port } = accepted.remoteAddr;
  const descriptor = Array.from({ length: sockets.bound() }, (_, number) => number)
    .find((number) => sockets.remote(number) === `${hostname} ${port}`);
  assert(descriptor !== undefined);
  await task(sockets, descriptor, { accepted, client });
  sockets.close();
}

Deno.test("the kernel's statistics of a connection are returned", async () => {
  await withConnection(async (sockets, descriptor, { accepted, client }) => {
    assertEquals(sockets.traffic(descriptor)?.receivedBytes, 0);
    assertEquals(sockets.unreadBytes(descriptor), 0);
    await client.write(new Uint8Array(1_234));
    await accepted.read(new Uint8Array(1_000));
    assertEquals(sockets.traffic(descriptor)?.receivedBytes, 1_234);
    assertEquals(sockets.unreadBytes(descriptor), 234);
    assertEquals(sockets.peek(descriptor), new Uint8Array(234));
    assertEquals(sockets.unreadBytes(descriptor), 234, "they are still unread");
    assertEquals(sockets.traffic(descriptor)?.isDelivered, true);
    // More than both sides hold: the rest waits for the client to read.
    const writing = accepted.write(new Uint8Array(50_000_000));
    assertEquals(await client.read(new Uint8Array(1)), 1);
    const waiting = sockets.traffic(descriptor);
    assertEquals(waiting?.isDelivered, false);
    assert((waiting?.unsentBytes ?? 0) > 0);
    const { acknowledgedBytes = 0, writtenBytes = 0, unsentBytes = 0 } = waiting ?? {};
    assert(acknowledgedBytes > 0 && writtenBytes >= acknowledgedBytes + unsentBytes);
    sockets.shutDown(descriptor);
    await writing.catch(() => {});
  });
});

Deno.test("data written before a connection is shut down still arrives", async () => {
  await withConnection(async (sockets, descriptor, { accepted, client }) => {
    await accepted.write(new Uint8Array(1_000));
    sockets.shutDown(descriptor);
    const buffer = new Uint8Array(2_000);
    assertEquals(await client.read(buffer), 1_000);
    assertEquals(await client.read(buffer), null);
    assertEquals(await accepted.read(buffer), null);
  });
});

Deno.test("aborting a connection ends a sender that waits for buffer space", async () => {
  await withConnection(async (sockets, descriptor, { accepted, client }) => {
    await accepted.write(new Uint8Array(1_000));
    const writing = writeAll(client, new Uint8Array(50_000_000))
      .then(() => "taken", () => "given up");
    const buffer = new Uint8Array(2_000);
    assertEquals(await client.read(buffer), 1_000);
    sockets.abort(descriptor);
    assertEquals(await client.read(buffer), null);
    accepted.close();
    assertEquals(await writing, "given up");
  });
});

Deno.test("of an aborted connection nothing more is read", async () => {
  await withConnection(async (sockets, descriptor, { accepted, client }) => {
    await client.write(new Uint8Array(1_000));
    assertEquals(sockets.unreadBytes(descriptor), 1_000);
    sockets.abort(descriptor);
    assertEquals(await accepted.read(new Uint8Array(2_000)), null);
  });
});

Deno.test("the resident memory is that of this process", () => {
  const opened = openSockets();
  assert(opened.kind === "open");
  const bytes = opened.sockets.residentBytes();
  assert(bytes > Deno.memoryUsage().rss / 2 && bytes < Deno.memoryUsage().rss * 2);
  opened.sockets.close();
});

Deno.test("a socket keeps its identity, which a later one from the same port does not have", async () => {
  const opened = openSockets();
  assert(opened.kind === "open");
  const { sockets } = opened;
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { hostname: host, port } = listener.addr;
  const identities: unknown[] = [];
  // An address of this machine that no other program uses, so that none takes the port meanwhile.
  const localAddress = "127.83.119.67";
  let localPort: number | undefined;
  for (let count = 0; count < 2; count++) {
    const client = connect({
      host,
      port,
      localAddress,
      ...localPort !== undefined && { localPort },
    });
    const accepted = await listener.accept();
    localPort = accepted.remoteAddr.port;
    const remote = `${localAddress} ${localPort}`;
    const descriptor = Array.from({ length: sockets.bound() }, (_, number) => number)
      .find((number) => sockets.remote(number) === remote);
    assert(descriptor !== undefined);
    const identity = sockets.identity(descriptor);
    assertEquals([typeof identity, sockets.identity(descriptor)], ["number", identity]);
    identities.push(identity);
    const closed = new Promise((resolve) => client.on("error", () => {}).once("close", resolve));
    client.resume();
    // The port is free at once after a reset.
    sockets.abort(descriptor);
    accepted.close();
    await closed;
  }
  assertEquals(new Set(identities).size, 2);
  sockets.close();
});

Deno.test("a descriptor that is not a connection has neither addresses nor statistics", () => {
  const opened = openSockets();
  assert(opened.kind === "open");
  const { sockets } = opened;
  for (const descriptor of [sockets.bound() + 1, 1_000_000, -1]) {
    assertEquals(
      [sockets.local(descriptor), sockets.remote(descriptor), sockets.traffic(descriptor)],
      [null, null, null],
    );
    assertEquals(sockets.identity(descriptor), null);
    assertEquals(sockets.unreadBytes(descriptor), 0);
    assertEquals(sockets.isListening(descriptor), false);
  }
  sockets.close();
});

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
