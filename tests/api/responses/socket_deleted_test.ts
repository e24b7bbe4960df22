import { assertEquals } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { create } from "../../support/socket_client.ts";
import { EVERY_TYPE, simulated, TRANSLATED } from "../../support/simulated.ts";
import { type SocketGateway, socketGateway } from "../../support/socket_gateway.ts";

async function deleted({ url }: SocketGateway, id: string): Promise<number> {
  const response = await fetch(`${url}/v1/responses/${id}`, { method: "DELETE" });
  await response.body?.cancel();
  return response.status;
}

testOverStores(
  "a provider that stores a deleted response decides whether it can be continued",
  async () => {
    const upstream = simulated();
    await using served = socketGateway(EVERY_TYPE, upstream);
    await using client = await served.open();
    const model = "stored/sim-echo";
    const { id } = await client.turn(create({ model }));
    assertEquals(await deleted(served, id), 200);
    const asked = upstream.sent.length;
    const { end, ending } = await client.turn(create({ model, previous_response_id: id }));
    assertEquals(ending, "error", JSON.stringify(end));
    assertEquals(upstream.sent[asked]?.body.previous_response_id, id);
  },
);

for (const provider of TRANSLATED) {
  testOverStores(
    `a socket can continue its last response even after its deletion, over ${provider}`,
    async () => {
      await using served = socketGateway(EVERY_TYPE, simulated());
      await using client = await served.open();
      await using other = await served.open();
      const model = `${provider}/sim-echo`;
      const { id } = await client.turn(create({ model, input: "one" }));
      assertEquals(await deleted(served, id), 204);
      const received = await client.turn(create({ model, input: "two", previous_response_id: id }));
      assertEquals([received.ending, received.output], ["response.completed", "two"]);
      const { error } = await other.turn(create({ model, previous_response_id: id }));
      assertEquals<unknown>(error.code, "previous_response_not_found");
      const gone = await fetch(`${served.url}/v1/responses/${id}`);
      await gone.body?.cancel();
      assertEquals(gone.status, 404);
    },
  );
}
