import { assertEquals, assertMatch } from "../support/assert.ts";
import { newOutageStore } from "../support/outage.ts";
import { EVERY_TYPE, simulated } from "../support/simulated.ts";
import { create } from "../support/socket_client.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const MODEL = "compat/sim-echo";

Deno.test("a turn that is to be stored gets an error event while the store is unavailable, and the socket continues", async () => {
  const upstream = simulated();
  const world = scriptedWorld({ fetch: upstream.fetch });
  const { store, leave, comeBack } = newOutageStore(world);
  await store.start();
  {
    await using served = socketGateway(EVERY_TYPE, { world, store });
    await using client = await served.open();
    const first = await client.turn(create({ model: MODEL, input: "one" }));
    assertEquals(first.ending, "response.completed");
    await leave();
    const refused = await client.turn(create({ model: MODEL, input: "two" }));
    assertEquals([refused.ending, refused.end.status, refused.error.code, refused.error.type], [
      "error",
      503,
      "state_unavailable",
      "server_error",
    ]);
    assertEquals(refused.error.headers, { "retry-after": "1" });
    assertMatch(String(refused.error.message), /send 'store: false'/);
    assertEquals(upstream.sent.length, 1);
    // A dialogue that is not stored continues, and its turns continue each other.
    const unstored = { model: MODEL, store: false };
    const second = await client.turn(create({ ...unstored, input: "two" }));
    assertEquals(second.ending, "response.completed");
    const third = await client.turn(
      create({ ...unstored, input: "three", previous_response_id: second.id }),
    );
    assertEquals([third.ending, third.output], ["response.completed", "three"]);
    await comeBack();
    const last = await client.turn(
      create({ model: MODEL, input: "four", previous_response_id: third.id }),
    );
    assertEquals(last.ending, "response.completed");
  }
  await store.close();
});

Deno.test("a turn that continues a stored response can be sent again when the store is back", async () => {
  const upstream = simulated();
  const world = scriptedWorld({ fetch: upstream.fetch });
  const { store, leave, comeBack } = newOutageStore(world);
  await store.start();
  {
    await using served = socketGateway(EVERY_TYPE, { world, store });
    await using client = await served.open();
    const first = await client.turn(create({ model: MODEL, input: "one" }));
    const turns = [
      create({ model: MODEL, input: "two", previous_response_id: first.id }),
      {
        ...create({ model: MODEL, input: "two", previous_response_id: first.id }),
        generate: false,
      },
    ];
    await leave();
    for (const turn of turns) {
      assertEquals((await client.turn(turn)).error.code, "state_unavailable");
    }
    await comeBack();
    assertEquals((await client.turn(turns[0] ?? {})).ending, "response.completed");
  }
  await store.close();
});

Deno.test("a turn whose store leaves at its end is delivered and stored later", async () => {
  const upstream = simulated();
  const world = scriptedWorld({ fetch: upstream.fetch });
  const { raw, store, comeBack } = newOutageStore(world);
  await store.start();
  {
    await using served = socketGateway(EVERY_TYPE, { world, store });
    await using client = await served.open();
    raw.leaveAt("response_store");
    const first = await client.turn(create({ model: MODEL, input: "one" }));
    assertEquals(first.ending, "response.completed");
    assertEquals(store.availability.pendingWrites(), 1);
    // The owner that waits is known to this process.
    const next = create({ model: MODEL, input: "x", store: false, previous_response_id: first.id });
    assertEquals((await client.turn(next)).ending, "response.completed");
    await comeBack();
    assertEquals(raw.objects.stats().responses.entries, 1);
  }
  await store.close();
});
