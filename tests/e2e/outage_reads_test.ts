import { stateful } from "../api/responses/stateful.ts";
import { assertEquals } from "../support/assert.ts";
import { keyOf, twoKeys } from "../support/client_keys.ts";
import { naming, nativeConfig, nativeGateway, responseOf } from "../support/native_gateway.ts";
import { withOutage } from "../support/outage.ts";
import { type Reply, textAt } from "../support/state_call.ts";

const ABLE = {
  can: ["conversations", "chat_completions_lifecycle", "responses_lifecycle"],
};

/** Response of the gateway when its store is unavailable. */
const AWAY = [503, "state_unavailable", "server_error", "1"];

function outcomeOf({ status, error, headers }: Reply): readonly unknown[] {
  return [status, error.code, error.type, headers.get("retry-after")];
}

Deno.test("requests for what the gateway stores get 503 and Retry-After while the store is unavailable, never 404", async () => {
  const { calls, outage } = await withOutage((options) => stateful(undefined, undefined, options));
  const { id } = await calls.created({ input: "x" });
  const conversation = textAt((await calls.post("/conversations", {})).json, "id");
  const item = { type: "message", role: "user", content: "x" };
  const { json: added } = await calls.post(`/conversations/${conversation}/items`, {
    items: [item],
  });
  const itemId = textAt(added, "first_id");
  await outage.leave();
  const body = { model: "m", input: "y", store: false };
  const replies: Record<string, Reply> = {
    continued: await calls.post("/responses", { ...body, previous_response_id: String(id) }),
    conversation: await calls.post("/responses", { ...body, conversation }),
    reference: await calls.post("/responses", {
      ...body,
      input: [{ type: "item_reference", id: itemId }],
    }),
    counted: await calls.post("/responses/input_tokens", {
      ...body,
      previous_response_id: String(id),
    }),
    retrieved: await calls.get(`/responses/${id}`),
    inputItems: await calls.get(`/responses/${id}/input_items`),
    deleted: await calls.delete(`/responses/${id}`),
    cancelled: await calls.post(`/responses/${id}/cancel`, {}),
    conversationRetrieved: await calls.get(`/conversations/${conversation}`),
    conversationCreated: await calls.post("/conversations", {}),
    conversationChanged: await calls.post(`/conversations/${conversation}`, { metadata: {} }),
    conversationDeleted: await calls.delete(`/conversations/${conversation}`),
    itemsListed: await calls.get(`/conversations/${conversation}/items`),
    itemsAdded: await calls.post(`/conversations/${conversation}/items`, { items: [item] }),
    itemRetrieved: await calls.get(`/conversations/${conversation}/items/${itemId}`),
    itemDeleted: await calls.delete(`/conversations/${conversation}/items/${itemId}`),
  };
  for (const [name, reply] of Object.entries(replies)) {
    assertEquals([name, ...outcomeOf(reply)], [name, ...AWAY]);
  }
  assertEquals(calls.requests.length, 1);
  await outage.comeBack();
  assertEquals((await calls.get(`/responses/${id}`)).status, 200);
  assertEquals((await calls.get(`/conversations/${conversation}/items`)).json.data, added.data);
  await outage.store.close();
});

for (const [how, headers] of [["not named", {}], ["named", naming("up")]] as const) {
  Deno.test(`requests for native objects get 503 while the store is unavailable, provider ${how}`, async () => {
    const { calls, outage } = await withOutage((options) =>
      nativeGateway(nativeConfig({ up: ABLE }), () => ({ body: responseOf("resp_1") }), options)
    );
    await calls.post("/responses", { model: "m", input: "x" });
    await outage.leave();
    const asked = calls.requests.length;
    const replies: Record<string, Reply> = {
      retrieved: await calls.get("/responses/resp_1", headers),
      streamed: await calls.get("/responses/resp_1?stream=true", headers),
      deleted: await calls.delete("/responses/resp_1", headers),
      inputItems: await calls.get("/responses/resp_1/input_items", headers),
      conversation: await calls.get("/conversations/conv_1", headers),
      conversationDeleted: await calls.delete("/conversations/conv_1", headers),
      itemsAdded: await calls.post("/conversations/conv_1/items", { items: [] }, headers),
      completion: await calls.get("/chat/completions/c_1", headers),
      completionDeleted: await calls.delete("/chat/completions/c_1", headers),
      messages: await calls.get("/chat/completions/c_1/messages", headers),
      continued: await calls.post("/responses", {
        model: "m",
        input: "y",
        store: false,
        previous_response_id: "resp_1",
      }, headers),
      conversed: await calls.post("/responses", {
        model: "m",
        input: "y",
        store: false,
        conversation: "conv_1",
      }, headers),
    };
    for (const [name, reply] of Object.entries(replies)) {
      assertEquals([name, ...outcomeOf(reply)], [name, ...AWAY]);
    }
    assertEquals(calls.requests.length, asked);
    await outage.store.close();
  });
}

Deno.test("a list of completions with isolated clients gets 503 while the store is unavailable", async () => {
  const config = nativeConfig({ up: ABLE }) + twoKeys();
  const list = { object: "list", data: [{ id: "c_1" }], has_more: false };
  const { calls, outage } = await withOutage((options) =>
    nativeGateway(config, () => ({ body: list }), options)
  );
  await outage.leave();
  const reply = await calls.get("/chat/completions", keyOf("ada"));
  assertEquals(outcomeOf(reply), AWAY);
  await outage.store.close();
});

Deno.test("a record that cannot be read is 503 without Retry-After, and the store counts as available", async () => {
  const { calls, outage } = await withOutage((options) => stateful(undefined, undefined, options));
  const { id } = await calls.created({ input: "x" });
  outage.raw.garble();
  const reply = await calls.get(`/responses/${id}`);
  assertEquals(outcomeOf(reply), [503, "state_unreadable", "server_error", null]);
  assertEquals([outage.store.availability.isUp(), outage.failures], [true, ["response_find"]]);
  await outage.store.close();
});
