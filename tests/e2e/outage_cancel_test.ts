import { assertEquals } from "../support/assert.ts";
import { newOutageStore } from "../support/outage.ts";
import { EVERY_TYPE, simulated } from "../support/simulated.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { scriptedWorld } from "../support/world.ts";

/** A request of a client that leaves while the store is queried. */
interface Leaving {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Number of requests that the provider has received by then. */
  readonly asked: number;
}

const LEAVING: readonly Leaving[] = [
  { name: "a response is looked up", method: "GET", path: "/responses/resp_1", asked: 0 },
  { name: "an owner is looked up", method: "GET", path: "/chat/completions/c_1", asked: 0 },
  {
    name: "the owner of a conversation is stored",
    method: "POST",
    path: "/conversations",
    body: {},
    asked: 1,
  },
  {
    name: "a response to continue is looked up",
    method: "POST",
    path: "/responses",
    body: { model: "compat/sim-echo", input: "x", previous_response_id: "resp_1" },
    asked: 0,
  },
  {
    name: "a conversation is looked up",
    method: "POST",
    path: "/responses",
    body: { model: "compat/sim-echo", input: "x", conversation: "conv_1" },
    asked: 0,
  },
  {
    name: "a whole response is stored",
    method: "POST",
    path: "/responses",
    body: { model: "compat/sim-echo", input: "x" },
    asked: 1,
  },
  {
    name: "the response of a stream is stored before its last event",
    method: "POST",
    path: "/responses",
    body: { model: "compat/sim-echo", input: "x", stream: true },
    asked: 1,
  },
  {
    name: "the owner of a native response is stored",
    method: "POST",
    path: "/responses",
    body: { model: "stored/sim-echo", input: "x", stream: true },
    asked: 1,
  },
];

for (const { name, method, path, body, asked } of LEAVING) {
  Deno.test(`a client that leaves while ${name} ends its call at once`, async () => {
    const upstream = simulated();
    const world = scriptedWorld({ fetch: upstream.fetch });
    const { raw, store } = newOutageStore(world);
    await store.start();
    {
      await using served = socketGateway(EVERY_TYPE, { world, store });
      const held = raw.hold();
      const client = new AbortController();
      const calling = fetch(`${served.url}/v1${path}`, {
        method,
        signal: client.signal,
        body: body === undefined ? null : JSON.stringify(body),
      }).then((response) => response.text()).catch(() => "aborted");
      await held.begun;
      client.abort();
      assertEquals(await calling, "aborted");
      // The store still has not answered.
      const { failure } = await served.reported(1);
      assertEquals([failure?.kind, upstream.sent.length], ["client_cancelled", asked]);
      held.release();
    }
    await store.close();
  });
}

Deno.test("what a client has left is stored nevertheless, later if the store leaves too", async () => {
  for (const leaves of [false, true]) {
    const upstream = simulated();
    const world = scriptedWorld({ fetch: upstream.fetch });
    const { raw, store, comeBack } = newOutageStore(world);
    await store.start();
    {
      await using served = socketGateway(EVERY_TYPE, { world, store });
      const held = raw.hold();
      const client = new AbortController();
      const calling = fetch(`${served.url}/v1/responses`, {
        method: "POST",
        signal: client.signal,
        body: JSON.stringify({ model: "compat/sim-echo", input: "x" }),
      }).catch(() => null);
      await held.begun;
      client.abort();
      await calling;
      await served.reported(1);
      if (leaves) raw.leave();
      held.release();
      await comeBack();
    }
    assertEquals(raw.objects.stats().responses.entries, 1);
    await store.close();
  }
});
