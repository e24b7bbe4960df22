import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { create } from "../../support/socket_client.ts";
import { EVERY_TYPE, simulated } from "../../support/simulated.ts";
import { socketGateway } from "../../support/socket_gateway.ts";

const MODEL = { model: "native/sim-echo" };

testOverStores(
  "a native provider without the lifecycle capability gets the items or the ID, as over HTTP",
  async () => {
    const upstream = simulated();
    await using served = socketGateway(EVERY_TYPE, upstream);
    await using client = await served.open();
    const overHttp = async (fields: JsonObject) => {
      const response = await fetch(`${served.url}/v1/responses`, {
        method: "POST",
        body: JSON.stringify({ ...MODEL, ...fields }),
      });
      const body = parseJson(await response.text());
      return isObject(body) ? body.id ?? null : null;
    };
    const first = await overHttp({ input: "one" });
    await overHttp({ input: "two", previous_response_id: first });
    const { id } = await client.turn(create({ ...MODEL, input: "one" }));
    await client.turn(create({ ...MODEL, input: "two", previous_response_id: id }));
    for (const body of [1, 3].map((call) => upstream.sent[call]?.body)) {
      const words = JSON.stringify(body?.input).match(/one|two/g);
      assertEquals<unknown>([body?.previous_response_id, words], [undefined, [
        "one",
        "one",
        "two",
      ]]);
    }
  },
);

Deno.test("a response that is too large to be sent again is continued by its ID", async () => {
  const upstream = simulated();
  await using served = socketGateway(EVERY_TYPE, upstream);
  await using client = await served.open();
  const fields = { model: "native/sim-long-1", input: "x".repeat(9 * 1024 * 1024) };
  const first = await client.turn(create(fields));
  const second = await client.turn(create({ ...fields, previous_response_id: first.id }));
  await client.turn(create({ ...MODEL, input: "three", previous_response_id: second.id }));
  const asked = upstream.sent.map(({ body }) => body.previous_response_id);
  assertEquals<unknown>(asked, [undefined, undefined, second.id]);
});
