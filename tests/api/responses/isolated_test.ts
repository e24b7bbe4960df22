import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { naming, nativeConfig, nativeGateway, responseOf } from "../../support/native_gateway.ts";
import { objectsAt, refusalOf, textAt } from "../../support/state_call.ts";
import { idOf, messagesOf, type Stateful, stateful, TWO } from "./stateful.ts";

const ADA = keyOf("ada"), BOB = keyOf("bob");
const UNKNOWN = [404, "response_not_found", "response_id"];
const UNKNOWN_CONVERSATION = [404, "conversation_not_found", "conversation_id"];

/** A gateway with two keys that keeps responses and conversations itself. */
function kept(): Stateful {
  return stateful(twoKeys() + TWO);
}

async function newConversation(calls: Stateful, headers: Readonly<Record<string, string>>) {
  const body = { items: [{ id: "msg_secret", role: "user", content: "secret of ada" }] };
  const made = await calls.post("/conversations", body, headers);
  assertEquals(made.status, 200, made.text);
  return textAt(made.json, "id");
}

testOverStores("a stored response of one key does not exist for another key", async () => {
  const calls = kept();
  const id = idOf(await calls.created({ input: "secret of ada" }, ADA));
  for (const named of [{}, naming("first")]) {
    const headers = { ...BOB, ...named };
    for (const path of ["", "/input_items"]) {
      assertEquals(refusalOf(await calls.get(`/responses/${id}${path}`, headers)), UNKNOWN);
    }
    assertEquals(refusalOf(await calls.post(`/responses/${id}/cancel`, "", headers)), UNKNOWN);
    assertEquals(refusalOf(await calls.delete(`/responses/${id}`, headers)), UNKNOWN);
    const body = { model: "m", input: "more", previous_response_id: id };
    assertEquals(refusalOf(await calls.post("/responses", body, headers)), [
      400,
      "previous_response_not_found",
      "previous_response_id",
    ]);
  }
  assertEquals(calls.requests.length, 1);
  const items = await calls.get(`/responses/${id}/input_items`, ADA);
  assertEquals(objectsAt(items.json, "data").length, 1);
  const next = await calls.created({ input: "more", previous_response_id: id }, ADA);
  assertEquals(messagesOf(calls, 2), [
    "user: secret of ada",
    "assistant: answer 1",
    "user: more",
  ]);
  assertEquals((await calls.delete(`/responses/${idOf(next)}`, ADA)).status, 204);
});

testOverStores(
  "a stored conversation of one key does not exist for another key, in any operation",
  async () => {
    const calls = kept();
    const id = await newConversation(calls, ADA);
    const path = `/conversations/${id}`;
    const items = { items: [{ role: "user", content: "x" }] };
    const replies = [
      await calls.get(path, BOB),
      await calls.post(path, { metadata: {} }, BOB),
      await calls.get(`${path}/items`, BOB),
      await calls.post(`${path}/items`, items, BOB),
      await calls.get(`${path}/items/msg_secret`, BOB),
      await calls.delete(`${path}/items/msg_secret`, BOB),
      await calls.delete(path, BOB),
    ];
    for (const reply of replies) assertEquals(refusalOf(reply), UNKNOWN_CONVERSATION);
    for (const conversation of [id, { id }]) {
      const answer = await calls.post("/responses", { model: "m", input: "x", conversation }, BOB);
      assertEquals(refusalOf(answer), [404, "conversation_not_found", "conversation"]);
    }
    assertEquals(calls.requests.length, 0);
    const own = await calls.get(`${path}/items`, ADA);
    assertEquals(objectsAt(own.json, "data").map((item) => item.id), ["msg_secret"]);
    await calls.created({ input: "more", conversation: id }, ADA);
    assertEquals(messagesOf(calls, 1), ["user: secret of ada", "user: more"]);
  },
);

testOverStores(
  "conversations and responses are shared while clients are not isolated",
  async () => {
    const calls = stateful(twoKeys(", isolate_clients: false") + TWO);
    const id = idOf(await calls.created({ input: "of ada" }, ADA));
    const conversation = await newConversation(calls, ADA);
    assertEquals((await calls.get(`/responses/${id}`, BOB)).status, 200);
    assertEquals((await calls.get(`/conversations/${conversation}`, BOB)).status, 200);
    await calls.created({ input: "more", previous_response_id: id }, BOB);
    assertEquals(messagesOf(calls, 2), ["user: of ada", "assistant: answer 1", "user: more"]);
    calls.reload(twoKeys() + TWO);
    assertEquals(refusalOf(await calls.get(`/responses/${id}`, BOB)), UNKNOWN);
    const hidden = await calls.get(`/conversations/${conversation}`, BOB);
    assertEquals(refusalOf(hidden), UNKNOWN_CONVERSATION);
    assertEquals((await calls.get(`/conversations/${conversation}`, ADA)).status, 200);
  },
);

testOverStores("a reference is never replaced by an item of another key", async () => {
  const calls = kept();
  const response = await calls.created({ input: "x" }, ADA);
  const [output] = objectsAt(response, "output");
  assert(output !== undefined);
  await newConversation(calls, ADA);
  const ids = [textAt(output, "id"), "msg_secret"];
  const ask = (id: string, headers: Readonly<Record<string, string>>) => {
    const input = [{ role: "user", content: "say it" }, { type: "item_reference", id }];
    return calls.post("/responses", { model: "m", input }, headers);
  };
  for (const id of ids) {
    assertEquals(refusalOf(await ask(id, BOB)), [400, "invalid_value", "input[1].id"]);
    assertEquals((await ask(id, ADA)).status, 200);
  }
  assertEquals(calls.requests.length, 3);
});

testOverStores("two keys with an item of the same ID each get their own item", async () => {
  const calls = kept();
  await newConversation(calls, ADA);
  const items = [{ id: "msg_secret", role: "user", content: "of bob" }];
  await calls.post("/conversations", { items }, BOB);
  for (const [headers, text] of [[ADA, "secret of ada"], [BOB, "of bob"]] as const) {
    await calls.created({ input: [{ id: "msg_secret" }] }, headers);
    assertEquals(messagesOf(calls, calls.requests.length), [`user: ${text}`]);
  }
});

const CAN = ["response_compaction", "response_input_tokens"];

testOverStores(
  "a reference to an item of another key is not sent to a provider that may know it",
  async () => {
    const config = twoKeys() + nativeConfig({ first: { can: CAN } });
    const calls = nativeGateway(config, ({ path }) => ({
      body: path === "/responses"
        ? responseOf("resp_1")
        : path.endsWith("compact")
        ? { object: "response.compaction", id: "cmp_1" }
        : { object: "response.input_tokens", input_tokens: 1 },
    }));
    await calls.post("/responses", { model: "m", input: "secret" }, ADA);
    const reference = (id: string): JsonObject => ({ type: "item_reference", id });
    for (const path of ["/responses", "/responses/compact", "/responses/input_tokens"]) {
      const ask = (id: string, headers: Readonly<Record<string, string>>) => {
        const input = [{ role: "user", content: "x" }, reference(id)];
        return calls.post(path, { model: "m", input, store: false }, headers);
      };
      const requests = calls.requests.length;
      const refused = await ask("msg_resp_1", BOB);
      assertEquals(refusalOf(refused), [400, "invalid_value", "input[1].id"], path);
      assertEquals(calls.requests.length, requests);
      assertEquals((await ask("msg_resp_1", ADA)).status, 200, path);
      // The gateway cannot distinguish objects that only the provider stores.
      assertEquals((await ask("msg_elsewhere", BOB)).status, 200, path);
    }
  },
);

testOverStores(
  "a response that reuses the ID of another key's response is not stored",
  async () => {
    const config = twoKeys() + nativeConfig({ first: {} });
    const calls = nativeGateway(config, ({ json }) => {
      const content = [{ type: "output_text", text: String(json.input), annotations: [] }];
      const message = { id: "msg_1", type: "message", role: "assistant", status: "completed" };
      return { body: responseOf("resp_1", { output: [{ ...message, content }] }) };
    });
    await calls.post("/responses", { model: "m", input: "secret of ada" }, ADA);
    assertEquals((await calls.get("/responses/resp_1", ADA)).status, 200);
    await calls.post("/responses", { model: "m", input: "secret of bob" }, BOB);
    for (const key of [ADA, BOB]) {
      assertEquals(refusalOf(await calls.get("/responses/resp_1", key)), UNKNOWN);
      assertEquals(refusalOf(await calls.get("/responses/resp_1/input_items", key)), UNKNOWN);
    }
  },
);
