import { newConnections } from "../../../src/runtime/connections/connections.ts";
import { loadSockets } from "../../../src/runtime/sockets.ts";
import { assert, assertStringIncludes } from "../../support/assert.ts";
import { connectFrom, freePort } from "../../support/connect_from.ts";
import { scriptedWorld } from "../../support/world.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000, http2: false };

/** Two sweeps: the second one knows which heads are unfinished. */
const TWO_SWEEPS_MS = 10_100;

const MIB = 1024 * 1024;

Deno.test("an upload of more than 64 MiB is answered while another client of its port leaves", async () => {
  const sockets = loadSockets();
  assert(sockets !== null);
  const world = scriptedWorld();
  const uploading = Promise.withResolvers<void>();
  await using server = Deno.serve(
    { hostname: "0.0.0.0", port: 0, onListen() {} },
    async (request, info) => {
      const peer = connections.enter(request, info);
      if (request.body === null) return new Response("answer");
      const body = { bodyBytes: 0, bodyHasEnded: false };
      peer.admitted?.(body);
      uploading.resolve();
      for await (const bytes of request.body) body.bodyBytes += bytes.length;
      return new Response(`${body.bodyBytes} bytes`);
    },
  );
  const { addr } = server;
  const connections = newConnections(sockets, addr, LIMITS, world);
  const from = freePort();
  /** Returns the number of sockets of the server that the clients of this port have. */
  const openSockets = () =>
    Array.from({ length: sockets.bound() }, (_, descriptor) => descriptor)
      .filter((descriptor) =>
        sockets.remote(descriptor) === `127.0.0.1 ${from}` &&
        sockets.local(descriptor)?.endsWith(` ${addr.port}`)
      ).length;
  {
    using client = connectFrom(from, "127.0.0.1", addr.port);
    const ask = async (some: typeof client) => {
      some.send("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
      assertStringIncludes(await some.receiveUntil("answer"), "200 OK");
    };
    {
      using other = connectFrom(from, "127.0.0.2", addr.port);
      for (const some of [client, other]) await ask(some);
      await world.advance(TWO_SWEEPS_MS);
      client.send(`POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${70 * MIB}\r\n\r\n`);
      await uploading.promise;
    }
    while (openSockets() > 1) await new Promise((resolve) => setTimeout(resolve, 1));
    await world.advance(TWO_SWEEPS_MS);
    client.send("x".repeat(70 * MIB));
    assertStringIncludes(await client.receiveUntil(" bytes"), `\r\n\r\n${70 * MIB} bytes`);
    await world.advance(TWO_SWEEPS_MS);
    await ask(client);
  }
  connections.close();
});
