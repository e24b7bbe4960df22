import { assert, assertEquals } from "../../../support/assert.ts";
import { stored } from "../../../support/object_store.ts";
import { create, type SocketClient } from "../../../support/socket_client.ts";
import { assertValid } from "../../../support/schemas.ts";
import { EVERY_TYPE, NATIVE, simulated, TRANSLATED } from "../../../support/simulated.ts";
import { socketGateway } from "../../../support/socket_gateway.ts";

function warm(client: SocketClient, provider: string, more: Record<string, unknown> = {}) {
  const fields = { generate: false, model: `${provider}/sim-echo` };
  return client.turn(JSON.stringify({ ...create(fields), ...more }));
}

for (const provider of [...NATIVE, ...TRANSLATED]) {
  Deno.test(`a warm-up sends no upstream request, and the next turn continues it over ${provider}`, async () => {
    const upstream = simulated();
    await using served = socketGateway(EVERY_TYPE, upstream);
    await using client = await served.open();
    const warmed = await warm(client, provider, { input: "warmed", stream_id: "s" });
    assertEquals<unknown>(
      warmed.events.map(({ type, sequence_number: number, stream_id: id }) => [type, number, id]),
      [["response.created", 0, "s"], ["response.completed", 1, "s"]],
    );
    assertValid("Response", warmed.response);
    assertEquals<unknown>([warmed.response.status, warmed.response.output], ["completed", []]);
    assertEquals(upstream.sent.length, 0);
    const rest = { model: `${provider}/sim-echo`, previous_response_id: warmed.id, input: [] };
    const received = await client.turn({ type: "response.create", ...rest });
    assertEquals([received.ending, received.output], ["response.completed", "warmed"]);
    const [sent] = upstream.sent;
    assertEquals(sent?.body.previous_response_id, undefined);
    assertEquals((await warm(client, provider)).ending, "response.completed");
  });

  Deno.test(`a warm-up may continue a turn, and a turn may continue it, over ${provider}`, async () => {
    const upstream = simulated();
    await using served = socketGateway(EVERY_TYPE, upstream);
    await using client = await served.open();
    const model = `${provider}/sim-echo`;
    const first = await client.turn(create({ model, input: "one" }));
    const second = await warm(client, provider, { input: "two", previous_response_id: first.id });
    const third = { model, input: "three", previous_response_id: second.id };
    const received = await client.turn(create(third));
    // Users and assistants take turns there: what a user says twice becomes one message.
    const output = provider === "messages" ? "twothree" : "three";
    assertEquals([received.ending, received.output], ["response.completed", output]);
    const { body } = upstream.sent[1] ?? {};
    const texts = JSON.stringify(body?.input ?? body?.messages).match(/one|two|three/g);
    const isKeptThere = provider === "stored";
    assertEquals<unknown>(texts, isKeptThere ? ["two", "three"] : ["one", "one", "two", "three"]);
    assertEquals<unknown>(body?.previous_response_id, isKeptThere ? first.id : undefined);
  });
}

Deno.test("a warm-up may have empty input, and replaces the last response", async () => {
  const upstream = simulated();
  await using served = socketGateway(EVERY_TYPE, upstream);
  await using client = await served.open();
  const model = "compat/sim-echo";
  const { id } = await client.turn(create({ model }));
  const empty = await client.turn({ type: "response.create", generate: false, model });
  assertEquals(empty.ending, "response.completed");
  const gone = await client.turn(create({ model, previous_response_id: id }));
  assertEquals(gone.error.code, "previous_response_not_found");
  const received = await client.turn(create({ model, previous_response_id: empty.id }));
  assertEquals(received.ending, "response.completed");
});

Deno.test("a warm-up is validated like a request, and is not stored", async () => {
  const upstream = simulated();
  await using served = socketGateway(EVERY_TYPE, upstream);
  await using client = await served.open();
  const wrong = [{ input: 7 }, { tools: [{}] }, { metadata: { a: 1 } }, {
    model: "nobody/x/y",
    temperature: "1",
  }];
  for (const more of wrong) {
    const { ending, end } = await warm(client, "compat", more);
    assertEquals<unknown>([ending, end.status], ["error", 400]);
  }
  const { id } = await warm(client, "compat", { store: true });
  assertEquals(await stored(served.gateway.state.objects.responses.find(id)), null);
  const response = await fetch(`${served.url}/v1/responses/${id}`);
  assertEquals(response.status, 404);
  await response.body?.cancel();
  assert(upstream.sent.length === 0);
});
