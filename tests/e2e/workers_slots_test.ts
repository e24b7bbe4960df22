import { assertEquals } from "../support/assert.ts";
import { until } from "../support/valkey_server.ts";
import { type RunningWorkers, withWorkers } from "./running_workers.ts";

const REQUEST_COUNT = 24;
const MAX_CONCURRENT = 4;

const COMPLETION = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "any",
  choices: [{ index: 0, message: { role: "assistant", content: "held" }, finish_reason: "stop" }],
});

/**
 * An upstream that holds every request until it is released, and counts those that it has at once.
 */
function holdingUpstream() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const released = Promise.withResolvers<void>();
  const held = new Set<Promise<void>>();
  let running = 0;
  let most = 0;

  async function hold(connection: Deno.Conn): Promise<void> {
    most = Math.max(most, ++running);
    const left = connection.readable.pipeTo(new WritableStream(), { preventCancel: true })
      .catch(() => {});
    await Promise.race([released.promise, left]);
    // A slot is free before the next request can arrive.
    running--;
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n`;
    const text = `${head}content-length: ${COMPLETION.length}\r\n\r\n${COMPLETION}`;
    await connection.write(new TextEncoder().encode(text)).catch(() => {});
    await left;
  }

  const accepting = (async () => {
    for await (const connection of listener) held.add(hold(connection));
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}/v1`,
    running: () => running,
    most: () => most,
    release: released.resolve,
    async close() {
      listener.close();
      await Promise.all([accepting, ...held]);
    },
  };
}

/**
 * Sends chat requests on new connections, which the system distributes to the workers; 0 is a
 * broken one.
 */
function sendMany({ send }: RunningWorkers): readonly Promise<number>[] {
  const body = JSON.stringify({ model: "any", messages: [{ role: "user", content: "hello" }] });
  return Array.from(
    { length: REQUEST_COUNT },
    () =>
      send("/v1/chat/completions", { method: "POST", body }).then(({ status }) => status, () => 0),
  );
}

Deno.test("max_concurrent of a provider holds over all workers, also after one was killed with its slots in use", async () => {
  const upstream = holdingUpstream();
  const config = () => `
server: {port: 0, workers: 2}
state: {store: none}
providers:
  held: {type: compat, base_url: "${upstream.url}", max_concurrent: ${MAX_CONCURRENT}, max_queued: 100}
routing: {routes: [{name: all, targets: [{provider: held}]}]}
`;
  await withWorkers(config, async (running) => {
    const first = sendMany(running);
    await until(() => upstream.running() === MAX_CONCURRENT);
    running.killWorker(1);
    // Half of the slots are those of the other worker, which keeps its requests.
    await until(() => upstream.running() === MAX_CONCURRENT / 2);
    await running.logged(/worker listens worker=1 /, 2);
    const second = sendMany(running);
    await until(() => upstream.running() === MAX_CONCURRENT);
    upstream.release();
    // The client of the test may send a request again whose connection broke.
    const other = (await Promise.all(first)).filter((status) => status !== 200 && status !== 0);
    assertEquals(other, []);
    assertEquals(new Set(await Promise.all(second)), new Set([200]));
    assertEquals(upstream.most(), MAX_CONCURRENT);
    running.child.kill("SIGTERM");
    assertEquals((await running.ended())[0], 0);
  });
  await upstream.close();
});
