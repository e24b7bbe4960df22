import { assertEquals } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { create, type TurnEvents } from "../../support/socket_client.ts";
import { EVERY_TYPE, simulated } from "../../support/simulated.ts";
import { socketGateway } from "../../support/socket_gateway.ts";

/** The gateway itself keeps the conversations. */
const CONFIG = twoKeys() + EVERY_TYPE.replace(", conversations: true", "");
const MODEL = { model: "compat/sim-echo" };
const NOT_FOUND = [400, "previous_response_not_found", "previous_response_id"];

function refusalIn({ end, error }: TurnEvents): readonly unknown[] {
  return [end.status, error.code, error.param];
}

testOverStores(
  "over a socket, responses, conversations and items of another key cannot be referred to",
  async () => {
    await using served = socketGateway(CONFIG, simulated());
    const headers = { ...keyOf("ada"), "content-type": "application/json" };
    const post = async (path: string, body: object) => {
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return await (await fetch(`${served.url}/v1${path}`, init)).json();
    };
    const response = await post("/responses", { ...MODEL, input: "secret" });
    const conversation = await post("/conversations", {});
    await using bob = await served.open(keyOf("bob"));
    const continued = create({ ...MODEL, previous_response_id: response.id });
    assertEquals(refusalIn(await bob.turn(continued)), NOT_FOUND);
    const joined = create({ ...MODEL, conversation: conversation.id });
    assertEquals(refusalIn(await bob.turn(joined)), [
      404,
      "conversation_not_found",
      "conversation",
    ]);
    const input = [{ type: "item_reference", id: response.output[0].id }];
    const referred = await bob.turn(create({ ...MODEL, input }));
    assertEquals(refusalIn(referred), [400, "invalid_value", "input[0].id"]);
    await using ada = await served.open(keyOf("ada"));
    const own = await ada.turn(create({ ...MODEL, conversation: conversation.id }));
    assertEquals(own.ending, "response.completed");
  },
);

testOverStores(
  "a response that was created over a socket belongs to the socket's key",
  async () => {
    await using served = socketGateway(CONFIG, simulated());
    await using ada = await served.open(keyOf("ada"));
    const { id } = await ada.turn(create(MODEL));
    const statusFor = async (name: string) => {
      const answer = await fetch(`${served.url}/v1/responses/${id}`, { headers: keyOf(name) });
      await answer.body?.cancel();
      return answer.status;
    };
    assertEquals([await statusFor("bob"), await statusFor("ada")], [404, 200]);
  },
);

testOverStores(
  "a key that is renamed while its socket is open cannot continue responses of its old name",
  async () => {
    await using served = socketGateway(CONFIG, simulated());
    await using client = await served.open(keyOf("ada"));
    const first = await client.turn(create({ ...MODEL, store: false }));
    const second = await client.turn(
      create({ ...MODEL, store: false, previous_response_id: first.id }),
    );
    assertEquals(second.ending, "response.completed");
    served.reload(CONFIG.replace("name: ada", "name: eve"));
    const third = await client.turn(create({ ...MODEL, previous_response_id: second.id }));
    assertEquals(refusalIn(third), NOT_FOUND);
  },
);

testOverStores("isolation on an open socket follows the current configuration", async () => {
  await using served = socketGateway(CONFIG, simulated());
  const made = await fetch(`${served.url}/v1/conversations`, {
    method: "POST",
    headers: keyOf("ada"),
  });
  const { id: conversation } = await made.json();
  await using bob = await served.open(keyOf("bob"));
  const turn = create({ ...MODEL, conversation });
  const unknown = [404, "conversation_not_found", "conversation"];
  assertEquals(refusalIn(await bob.turn(turn)), unknown);
  served.reload(CONFIG.replace("api_key:", "isolate_clients: false, api_key:"));
  assertEquals((await bob.turn(turn)).ending, "response.completed");
  served.reload(CONFIG);
  assertEquals(refusalIn(await bob.turn(turn)), unknown);
});
