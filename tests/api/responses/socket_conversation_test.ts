import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { create } from "../../support/socket_client.ts";
import { EVERY_TYPE, simulated } from "../../support/simulated.ts";
import { type SocketGateway, socketGateway } from "../../support/socket_gateway.ts";
import { objectsAt, textAt } from "../../support/state_call.ts";

const LOCAL_ONLY = EVERY_TYPE.replace(", conversations: true", "");

async function called(served: SocketGateway, path: string, init: RequestInit): Promise<JsonObject> {
  const response = await fetch(`${served.url}/v1/conversations${path}`, init);
  const value = parseJson(await response.text());
  assert(response.ok && isObject(value), JSON.stringify(value));
  return value;
}

async function conversation(served: SocketGateway, headers: Record<string, string>) {
  return textAt(await called(served, "", { method: "POST", headers, body: "{}" }), "id");
}

for (const provider of ["compat", "messages", "local", "native", "stored"]) {
  const isNative = provider === "stored";

  testOverStores(`a conversation is continued over a socket at ${provider}`, async () => {
    const upstream = simulated();
    await using served = socketGateway(isNative ? EVERY_TYPE : LOCAL_ONLY, upstream);
    await using client = await served.open();
    const headers: Record<string, string> = isNative ? { "x-gateway-provider": provider } : {};
    const id = await conversation(served, headers);
    const model = `${provider}/sim-echo`;
    const first = await client.turn(create({ model, input: "one", conversation: id }));
    const second = await client.turn(
      create({ model, input: "two", conversation: { id }, store: false }),
    );
    assertEquals([first.output, second.output], ["one", "two"]);
    assertEquals<unknown>([first.response.conversation, second.response.conversation], [{ id }, {
      id,
    }]);
    const list = await called(served, `/${id}/items?order=asc`, { headers });
    const roles = objectsAt(list, "data").map(({ role }) => role);
    assertEquals<unknown>(roles, ["user", "assistant", "user", "assistant"]);
    const sent = upstream.sent.at(isNative ? -2 : -1)?.body ?? {};
    assertEquals(sent.conversation, isNative ? { id } : undefined);
  });
}

testOverStores(
  "a warm-up in a provider's own conversation is refused, and the socket stays open",
  async () => {
    await using served = socketGateway(EVERY_TYPE, simulated());
    await using client = await served.open();
    const id = await conversation(served, { "x-gateway-provider": "stored" });
    const model = "stored/sim-echo";
    const { end, error } = await client.turn(create({ model, conversation: id, generate: false }));
    assertEquals<unknown>(
      [end.status, error.code, error.param],
      [400, "unsupported_feature", "generate"],
    );
    assertEquals((await client.turn(create({ model }))).ending, "response.completed");
  },
);

testOverStores(
  "a response in a provider's own conversation is not continued by its ID",
  async () => {
    await using served = socketGateway(EVERY_TYPE, simulated());
    await using client = await served.open();
    const id = await conversation(served, { "x-gateway-provider": "stored" });
    const model = "stored/sim-echo";
    const first = await client.turn(create({ model, conversation: id, store: false }));
    assertEquals(first.ending, "response.completed");
    const { error } = await client.turn(create({ model, previous_response_id: first.id }));
    assertEquals<unknown>(error.code, "previous_response_not_found");
  },
);

testOverStores(
  "a response that cannot be continued replaces the last response of the socket",
  async () => {
    await using served = socketGateway(EVERY_TYPE, simulated());
    await using client = await served.open();
    const conv = await conversation(served, { "x-gateway-provider": "stored" });
    const model = "stored/sim-echo";
    const first = await client.turn(create({ model }));
    const second = await client.turn(create({ model, conversation: conv, store: false }));
    assertEquals(second.ending, "response.completed");
    for (const { id } of [first, second]) {
      const { error } = await client.turn(create({ model, previous_response_id: id }));
      assertEquals<unknown>(error.code, "previous_response_not_found");
    }
  },
);

testOverStores("an unknown conversation is refused as over HTTP", async () => {
  await using served = socketGateway(EVERY_TYPE, simulated());
  await using client = await served.open();
  const fields = { model: "compat/sim-echo", conversation: "conv_unknown" };
  const { end, error } = await client.turn(create(fields));
  assertEquals<unknown>(
    [end.status, error.code, error.param],
    [404, "conversation_not_found", "conversation"],
  );
});
