import { ConnectionError } from "../../src/core/failure/connection_error.ts";
import type { Clock } from "../../src/http_client/connection_pool.ts";
import { newHttpClient } from "../../src/http_client/client.ts";
import { DEFAULT_TRANSPORT } from "../../src/core/transport.ts";
import { assertEquals } from "../support/assert.ts";
import { textOf } from "./heard.ts";
import { answering, plain, post, server } from "./server.ts";

/** A clock on which only what is waited for passes, when the test says so. */
function alarms() {
  const asked: number[] = [];
  const waiting = new Set<() => void>();
  const began = Promise.withResolvers<void>();
  const clock: Clock = {
    now: () => 0,
    every: () => () => {},
    after(ms, task) {
      asked.push(ms);
      waiting.add(task);
      began.resolve();
      return () => void waiting.delete(task);
    },
  };
  return { clock, asked, waiting, began: began.promise };
}

async function kindOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => "answered",
    (error: unknown) => error instanceof ConnectionError && !error.mayHaveRun ? error.kind : "?",
  );
}

Deno.test("a connection that the server does not accept fails after the connect timeout, and nothing was sent", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 1 });
  const { port } = listener.addr;
  using _first = await Deno.connect({ hostname: "127.0.0.1", port });
  using _second = await Deno.connect({ hostname: "127.0.0.1", port });
  const { clock, asked, waiting, began } = alarms();
  const client = newHttpClient(clock);
  const kind = kindOf(client.send(`http://127.0.0.1:${port}/`, post("x")));
  await began;
  assertEquals(asked, [10_000]);
  for (const ring of waiting) ring();
  assertEquals(await kind, "timeout");
  // The attempt itself is aborted later, or when the client is closed.
  assertEquals([asked, waiting.size], [[10_000, 2_000], 1]);
  client.close();
  assertEquals(waiting.size, 0);
});

Deno.test("a connection whose TLS handshake stalls fails after the connect timeout", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { clock, asked, waiting } = alarms();
  const client = newHttpClient(clock);
  const transport = { ...DEFAULT_TRANSPORT, connectTimeoutMs: 77 };
  const url = `https://127.0.0.1:${listener.addr.port}/`;
  const kind = kindOf(client.send(url, post("x", { transport })));
  using accepted = await listener.accept();
  await accepted.read(new Uint8Array(4_096));
  assertEquals(asked, [77]);
  for (const ring of waiting) ring();
  assertEquals([await kind, waiting.size], ["timeout", 0]);
  assertEquals(await accepted.read(new Uint8Array(4_096)), null);
  client.close();
});

Deno.test("the connect timeout applies neither to an open connection nor to a reused one", async () => {
  const { clock, asked, waiting } = alarms();
  await using served = server(answering(() => plain("a")), clock);
  for (let count = 0; count < 3; count++) {
    assertEquals(await textOf(await served.client.send(served.url, post("x"))), "a");
  }
  assertEquals([asked.length, waiting.size, served.connections()], [1, 0, 1]);
});

Deno.test("a connect timeout longer than the runtime's longest timer is split into several timers", async () => {
  const MAX_TIMER_MS = 2 ** 31 - 1;
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const client = newHttpClient();
  const transport = { ...DEFAULT_TRANSPORT, connectTimeoutMs: 1_000 * 3_600_000 };
  const url = `https://127.0.0.1:${listener.addr.port}/`;
  const asked: unknown[] = [];
  const { setTimeout: real } = globalThis;
  globalThis.setTimeout = new Proxy(real, {
    apply(timer, self, [task, ms]) {
      asked.push(ms);
      return Reflect.apply(timer, self, [task, ms]);
    },
  });
  const kind = kindOf(client.send(url, post("x", { transport })));
  globalThis.setTimeout = real;
  using accepted = await listener.accept();
  await accepted.read(new Uint8Array(4_096));
  client.close();
  assertEquals([await kind, asked], ["aborted", [MAX_TIMER_MS]]);
});
