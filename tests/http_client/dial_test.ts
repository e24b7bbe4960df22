import { newForceShutdown } from "../../src/runtime/force_shutdown.ts";
import { dial } from "../../src/http_client/dial.ts";
import { Cancellation } from "../../src/core/cancellation.ts";
import { ConnectionError } from "../../src/core/failure/connection_error.ts";
import { assertEquals } from "../support/assert.ts";
import { answering, plain, post, server } from "./server.ts";
import { textOf } from "./heard.ts";

const cutOff = newForceShutdown();
// The library that a cut loads would be a leak of a test.
cutOff.close();

/** Aborts an attempt that was given up without a delay, so that none outlives its test. */
function atOnce(_ms: number, task: () => void): () => void {
  task();
  return () => {};
}

const NAME = { hostname: "a.test", port: 1, isSecure: false };

async function errorOf(work: Promise<Deno.Conn>): Promise<string> {
  try {
    (await work).close();
    return "connected";
  } catch (error) {
    if (!(error instanceof ConnectionError) || error.mayHaveRun || error.isAnswered) return "?";
    return error.kind;
  }
}

/** Returns a listener whose queue is full: further connections to it wait. */
async function fullListener() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 1 });
  const { port } = listener.addr;
  const queued = [
    await Deno.connect({ hostname: "127.0.0.1", port }),
    await Deno.connect({ hostname: "127.0.0.1", port }),
  ];
  return {
    port,
    [Symbol.dispose]() {
      for (const connection of queued) connection.close();
      listener.close();
    },
  };
}

Deno.test("a connection succeeds if any of several addresses accepts it", async () => {
  await using served = server(answering(() => plain("a")));
  const { client, port } = served;
  const url = `http://localhost:${port}/v1`;
  assertEquals(await textOf(await client.send(url, post("x"))), "a");
  const cancellation = new Cancellation();
  const origin = { hostname: "a.test", port, isSecure: false };
  for (
    const addresses of [["::1", "127.0.0.1"], ["127.0.0.1", "::1"], ["::1", "::1", "127.0.0.1"]]
  ) {
    const find = () => Promise.resolve(addresses);
    assertEquals(await errorOf(dial(origin, cancellation, cutOff, { find })), "connected");
  }
});

Deno.test("a silent address delays the next attempt only by the connection attempt delay", async () => {
  using silent = await fullListener();
  const listener = Deno.listen({ hostname: "127.0.0.2", port: silent.port });
  const find = () => Promise.resolve(["127.0.0.1", "127.0.0.2"]);
  const origin = { ...NAME, port: silent.port };
  const connection = await dial(origin, new Cancellation(), cutOff, { find, after: atOnce });
  assertEquals(
    connection.remoteAddr.transport === "tcp" && connection.remoteAddr.hostname,
    "127.0.0.2",
  );
  connection.close();
  listener.close();
});

Deno.test("a connection error has its cause, and its message states that nothing was sent", async () => {
  const cancellation = new Cancellation();
  const lost = () => Promise.reject(new Error("a.test was not found"));
  assertEquals(await errorOf(dial(NAME, cancellation, cutOff, { find: lost })), "dns");
  const none = () => Promise.resolve([]);
  assertEquals(await errorOf(dial(NAME, cancellation, cutOff, { find: none })), "dns");
  const refused = () => Promise.resolve(["127.0.0.1", "::1"]);
  assertEquals(await errorOf(dial(NAME, cancellation, cutOff, { find: refused })), "refused");
  using plain = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = plain.accept().then(async (connection) => {
    await connection.write(new TextEncoder().encode("HTTP/1.1 400 Bad\r\n\r\n"));
    connection.close();
  });
  const secure = { hostname: "127.0.0.1", port: plain.addr.port, isSecure: true };
  assertEquals(await errorOf(dial(secure, cancellation, cutOff)), "tls_other");
  await serving;
});

Deno.test("no connection is dialed after cancellation", async () => {
  const giveUp = new Cancellation();
  giveUp.cancel(null);
  assertEquals(
    await errorOf(dial(NAME, giveUp, cutOff, { find: () => Promise.resolve([]) })),
    "aborted",
  );
});

Deno.test("cancellation ends a DNS lookup", async () => {
  const giveUp = new Cancellation();
  const found = Promise.withResolvers<readonly string[]>();
  const dialled = errorOf(dial(NAME, giveUp, cutOff, { find: () => found.promise }));
  giveUp.cancel(null);
  assertEquals(await dialled, "aborted");
  found.reject(new Error("found too late to be anybody's"));
});

/** Resolves `called` when `Deno.connect` is called; restores it when disposed. */
function watchConnect() {
  const { connect } = Deno;
  const { promise, resolve } = Promise.withResolvers<void>();
  Deno.connect = ((options: Deno.ConnectOptions) => {
    resolve();
    return connect(options);
  }) as typeof Deno.connect;
  return {
    called: promise,
    [Symbol.dispose]() {
      Deno.connect = connect;
    },
  };
}

Deno.test("cancellation ends the wait for a connection", async () => {
  using silent = await fullListener();
  for (const addresses of [["127.0.0.1"], ["127.0.0.1", "127.0.0.1"]]) {
    const giveUp = new Cancellation();
    const find = () => Promise.resolve(addresses);
    using attempt = watchConnect();
    const options = { find, after: atOnce };
    const dialled = errorOf(dial({ ...NAME, port: silent.port }, giveUp, cutOff, options));
    await attempt.called;
    giveUp.cancel(null);
    assertEquals(await dialled, "aborted");
  }
});

Deno.test("a connection that is made after cancellation is closed, because its abort could lose it", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const delays: number[] = [];
  const isCancelled = Promise.withResolvers<void>();
  const after = (ms: number) => {
    delays.push(ms);
    return isCancelled.resolve;
  };
  const giveUp = new Cancellation();
  const origin = { ...NAME, hostname: "127.0.0.1", port: listener.addr.port };
  using attempt = watchConnect();
  const dialled = errorOf(dial(origin, giveUp, cutOff, { after }));
  await attempt.called;
  giveUp.cancel(null);
  assertEquals(await dialled, "aborted");
  using accepted = await listener.accept();
  assertEquals(await accepted.read(new Uint8Array(1)), null);
  // The abort of a silent attempt was set for later, and has been cancelled.
  await isCancelled.promise;
  assertEquals(delays, [2_000]);
});

Deno.test("cancellation ends a TLS handshake and its connection", async () => {
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const giveUp = new Cancellation();
  const origin = { hostname: "127.0.0.1", port: silent.addr.port, isSecure: true };
  const dialled = errorOf(dial(origin, giveUp, cutOff));
  const connection = await silent.accept();
  const room = new Uint8Array(64 * 1024);
  await connection.read(room);
  giveUp.cancel(null);
  assertEquals(await dialled, "aborted");
  assertEquals(await connection.read(room), null);
  connection.close();
});
