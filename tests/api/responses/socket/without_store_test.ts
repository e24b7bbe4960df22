import { assertEquals, assertMatch } from "../../../support/assert.ts";
import { assertNothingStored, NO_STORE } from "../../../support/no_store.ts";
import { EVERY_TYPE, NATIVE, simulated, TRANSLATED } from "../../../support/simulated.ts";
import { objectsAt, textAt } from "../../../support/state_call.ts";
import { create, type SocketClient, type TurnEvents } from "../../../support/socket_client.ts";
import { socketGateway } from "../../../support/socket_gateway.ts";

/** Status, code and param of the error that a turn ended with. */
function refusalIn({ end, error }: TurnEvents): readonly unknown[] {
  return [end.status, error.code, error.param];
}

async function say(client: SocketClient, provider: string, more: Record<string, unknown> = {}) {
  const message = create({ model: `${provider}/sim-echo` });
  return await client.turn(JSON.stringify({ ...message, ...more }));
}

for (const provider of [...NATIVE, ...TRANSLATED]) {
  Deno.test(`without a store a socket continues its last response over ${provider}, from memory alone`, async () => {
    for (const stored of [{}, { store: true }, { store: false }]) {
      const upstream = simulated();
      await using served = socketGateway(NO_STORE + EVERY_TYPE, upstream);
      await using client = await served.open();
      let previous: string | null = null;
      for (const input of ["one", "two", "three"]) {
        const more = { input, previous_response_id: previous, ...stored };
        const received: TurnEvents = await say(client, provider, more);
        assertEquals([received.ending, received.output], ["response.completed", input]);
        assertEquals(received.response.store, false);
        previous = received.id;
      }
      for (const { body } of upstream.sent) {
        assertEquals(body.previous_response_id ?? null, null);
        assertEquals(body.store ?? false, false);
      }
      const last = JSON.stringify(upstream.sent.at(-1)?.body);
      assertMatch(last, /one.*two.*three/);
      assertNothingStored(served.gateway);
    }
  });

  Deno.test(`without a store a socket over ${provider} knows its last response only, and stays open`, async () => {
    await using served = socketGateway(NO_STORE + EVERY_TYPE, simulated());
    await using client = await served.open();
    const first = await say(client, provider, { input: "one" });
    const second = await say(client, provider, { input: "two" });
    for (const id of ["resp_other", first.id]) {
      const refused = await say(client, provider, { previous_response_id: id });
      const code = "previous_response_not_found";
      assertEquals(refusalIn(refused), [400, code, "previous_response_id"]);
    }
    const next = await say(client, provider, { input: "3", previous_response_id: second.id });
    assertEquals(next.ending, "response.completed");
    await using other = await served.open();
    const elsewhere = await say(other, provider, { previous_response_id: next.id });
    assertEquals(elsewhere.error.code, "previous_response_not_found");
  });
}

Deno.test("without a store a conversation and a foreign item are error events by name, and the socket stays open", async () => {
  await using served = socketGateway(NO_STORE + EVERY_TYPE, simulated());
  await using client = await served.open();
  const conversation = await say(client, "stored", { conversation: "conv_1" });
  assertEquals(refusalIn(conversation), [400, "state_disabled", "conversation"]);
  const input = [{ type: "item_reference", id: "msg_1" }];
  const reference = await say(client, "stored", { input });
  assertEquals(refusalIn(reference), [400, "state_disabled", "input[0].id"]);
  assertEquals((await say(client, "compat", { input: "one" })).ending, "response.completed");
});

Deno.test("without a store a reference to an item of the socket's last response is resolved", async () => {
  const upstream = simulated();
  await using served = socketGateway(NO_STORE + EVERY_TYPE, upstream);
  await using client = await served.open();
  const first = await say(client, "compat", { input: "one" });
  const id = textAt(objectsAt(first.response, "output")[0] ?? {}, "id");
  const input = [{ type: "item_reference", id }, { role: "user", content: "two" }];
  const second = await say(client, "compat", { input, previous_response_id: first.id });
  assertEquals([second.ending, second.output], ["response.completed", "two"]);
});

Deno.test("without a store a warm-up says store: false, and the next turn continues it", async () => {
  await using served = socketGateway(NO_STORE + EVERY_TYPE, simulated());
  await using client = await served.open();
  const warm = await say(client, "messages", { input: "one", generate: false, store: true });
  assertEquals([warm.ending, warm.response.store], ["response.completed", false]);
  const next = await say(client, "messages", { input: "two", previous_response_id: warm.id });
  assertEquals([next.ending, next.response.store], ["response.completed", false]);
  assertNothingStored(served.gateway);
});
