import { newForceShutdown } from "../../src/runtime/force_shutdown.ts";
import { assertEquals } from "../support/assert.ts";
import { readRequest } from "../support/received_request.ts";
import { textOf } from "./heard.ts";
import { abortable, answering, encoder, plain, server } from "./server.ts";

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(() => "answered", () => "given up");
}

Deno.test("an already cancelled request is not sent", async () => {
  await using served = server(answering(() => plain("a")));
  const { request, abort } = abortable("x");
  abort();
  assertEquals(await outcomeOf(served.client.send(served.url, request)), "given up");
});

Deno.test("an already cancelled request is not sent over an idle connection", async () => {
  const paths: string[] = [];
  await using served = server(answering(({ path }) => {
    paths.push(path);
    return plain("a");
  }));
  const { client, url } = served;
  assertEquals(await textOf(await client.send(url, abortable("x").request)), "a");
  const { request, abort } = abortable("x");
  abort();
  assertEquals(await outcomeOf(client.send(`${url}/aborted`, request)), "given up");
  assertEquals(await textOf(await client.send(`${url}/next`, abortable("x").request)), "a");
  assertEquals(paths, ["/v1", "/v1/next"]);
});

Deno.test("cancellation ends the wait for the response", async () => {
  const came = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  await using served = server(async (line) => {
    await readRequest(line.read);
    came.resolve();
    assertEquals(await line.read(), null);
    left.resolve();
  });
  const { request, abort } = abortable("x");
  const outcome = outcomeOf(served.client.send(served.url, request));
  await came.promise;
  abort();
  assertEquals(await outcome, "given up");
  await left.promise;
});

Deno.test("cancellation ends a response body in the middle, also for a pending read", async () => {
  for (const isWaiting of [true, false]) {
    const left = Promise.withResolvers<void>();
    await using served = server(async (line) => {
      await readRequest(line.read);
      await line.write(encoder.encode(plain("abc").slice(0, -1)));
      assertEquals(await line.read(), null);
      left.resolve();
    });
    const { request, abort } = abortable("x");
    const { body } = await served.client.send(served.url, request);
    if (body === null || body instanceof ReadableStream) throw new Error("no body");
    assertEquals((await body.read())?.length, 2);
    const waiting = isWaiting ? outcomeOf(body.read()) : null;
    abort();
    assertEquals(await (waiting ?? outcomeOf(body.read())), "given up");
    assertEquals(await outcomeOf(body.read()), "given up");
    await left.promise;
  }
});

Deno.test("cancellation ends the sending of a body that the server does not read", async () => {
  const came = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  await using served = server(async (line) => {
    await line.read();
    came.resolve();
    // Only now: until then the other side of the connection is full.
    await left.promise;
  });
  const { request, abort } = abortable("x".repeat(30_000_000));
  const outcome = outcomeOf(served.client.send(served.url, request));
  await came.promise;
  abort();
  assertEquals(await outcome, "given up");
  // Nothing of the client is open here, though the server has read next to nothing.
  served.client.close();
  left.resolve();
});

Deno.test("a response that ends with its connection is incomplete if this side closes the connection", async () => {
  for (const way of ["abort", "close"]) {
    const done = Promise.withResolvers<void>();
    await using served = server(async (line) => {
      await line.read();
      await line.write(encoder.encode("HTTP/1.1 200 OK\r\n\r\npart"));
      await done.promise;
    });
    const { request, abort } = abortable("x".repeat(30_000_000));
    const { body } = await served.client.send(served.url, request);
    if (body === null || body instanceof ReadableStream) throw new Error("no body");
    assertEquals((await body.read())?.length, 4);
    const rest = outcomeOf(body.read());
    if (way === "abort") abort();
    else served.client.close();
    assertEquals(await rest, "given up");
    done.resolve();
  }
});

Deno.test("cancellation after the end of a response does not affect a later request", async () => {
  await using served = server(answering((_request, count) => plain(`answer ${count}`)));
  const { client, url } = served;
  const first = abortable("x");
  assertEquals(await textOf(await client.send(url, first.request)), "answer 1");
  const second = await client.send(url, abortable("x").request);
  first.abort();
  assertEquals(await textOf(second), "answer 2");
  first.abort();
  assertEquals(await textOf(await client.send(url, abortable("x").request)), "answer 3");
  assertEquals(served.connections(), 1);
});

Deno.test("a connection is shut down in the middle of a write, also over TLS", async () => {
  const cert = await Deno.readTextFile(new URL("localhost.pem", import.meta.url));
  const key = await Deno.readTextFile(new URL("localhost.key", import.meta.url));
  using listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key });
  const { port } = listener.addr;
  const accepted = listener.accept();
  const client = await Deno.connectTls({ hostname: "localhost", port, caCerts: [cert] });
  using server = await accepted;
  await Promise.all([client.handshake(), server.handshake()]);
  const writing = outcomeOf(writeAll(client, new Uint8Array(30_000_000)));
  // The other side reads the beginning and then nothing more.
  await server.read(new Uint8Array(1));
  const cutOff = newForceShutdown();
  cutOff(client);
  cutOff.close();
  client.close();
  assertEquals(await writing, "given up");
});

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
