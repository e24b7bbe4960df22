import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { objectsAt, refusalOf } from "../../support/state_call.ts";
import { errorIn, idOf, idsIn, messagesOf, type Stateful, stateful, TWO } from "./stateful.ts";

async function conversation(calls: Stateful, items: readonly JsonObject[] = []): Promise<string> {
  return idOf((await calls.post("/conversations", { items: [...items] })).json);
}

async function rolesIn(calls: Stateful, id: string): Promise<readonly unknown[]> {
  const { json } = await calls.get(`/conversations/${id}/items?order=asc`);
  return objectsAt(json, "data").map(({ role, type }) => role ?? type);
}

testOverStores(
  "the model receives the conversation's items, and the conversation gets input and output",
  async () => {
    for (const stream of [false, true]) {
      const calls = stateful();
      const id = await conversation(calls, [{ role: "user", content: "zero" }]);
      const first = await calls.created({ input: "one", conversation: id, stream });
      assertEquals(first.conversation, { id });
      await calls.created({ input: "two", conversation: { id }, stream });
      const expected = ["user: zero", "user: one", "assistant: answer 1", "user: two"];
      assertEquals(messagesOf(calls, 2), expected);
      assertEquals(await rolesIn(calls, id), ["user", "user", "assistant", "user", "assistant"]);
      const items = await calls.get(`/conversations/${id}/items?order=asc`);
      assertEquals(objectsAt(items.json, "data")[2], objectsAt(first, "output")[0]);
    }
  },
);

testOverStores("a conversation gets the items even if the response is not stored", async () => {
  const calls = stateful();
  const id = await conversation(calls);
  const resource = await calls.created({ input: "one", conversation: id, store: false });
  assertEquals((await calls.get(`/responses/${idOf(resource)}`)).status, 404);
  assertEquals(await rolesIn(calls, id), ["user", "assistant"]);
});

testOverStores("input items have equal IDs in the conversation and in the response", async () => {
  const calls = stateful();
  const id = await conversation(calls);
  const resource = await calls.created({ input: "one", conversation: id });
  const inputs = idsIn(await calls.get(`/responses/${idOf(resource)}/input_items`));
  const items = idsIn(await calls.get(`/conversations/${id}/items?order=asc`));
  assertEquals(inputs, items.slice(0, 1));
});

Deno.test("a failed or truncated response leaves its conversation unchanged", async () => {
  for (const script of [{ status: 500 }, { finish: "length" }, { finish: "unheard_of" }]) {
    const calls = stateful(TWO, () => script);
    const id = await conversation(calls, [{ role: "user", content: "zero" }]);
    for (const stream of [false, true]) {
      await calls.post("/responses", { model: "m", input: "one", conversation: id, stream });
    }
    assertEquals(await rolesIn(calls, id), ["user"]);
  }
});

Deno.test(
  "a conversation with a tool call without result is refused by the path of the call",
  async () => {
    const calls = stateful();
    const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
    const id = await conversation(calls, [{ role: "user", content: "zero" }, call]);
    const answer = await calls.post("/responses", { model: "m", input: "one", conversation: id });
    const path = "conversation.items[1].call_id";
    assertEquals(refusalOf(answer), [400, "invalid_value", path]);
    const message = `'${path}' must be that of a call with a function_call_output.`;
    assert(JSON.stringify(answer.json).includes(message));
    assertEquals(calls.requests.length, 0);
  },
);

testOverStores("an unknown conversation is not found, as a string or as an object", async () => {
  const calls = stateful();
  for (const named of ["conv_none", { id: "conv_none" }]) {
    const body = { model: "m", input: "one", conversation: named };
    const expected = [404, "conversation_not_found", "conversation"];
    assertEquals(refusalOf(await calls.post("/responses", body)), expected);
  }
  assertEquals(calls.requests.length, 0);
});

Deno.test("a conversation and a previous response exclude each other", async () => {
  const calls = stateful();
  const body = { model: "m", input: "x", conversation: "c", previous_response_id: "r" };
  const expected = [400, "invalid_parameter_combination", "conversation"];
  assertEquals(refusalOf(await calls.post("/responses", body)), expected);
});

Deno.test("a full conversation is refused before a request is sent upstream", async () => {
  const calls = stateful();
  const id = await conversation(calls);
  const items = Array.from({ length: 20 }, () => ({ role: "user", content: "x" }));
  const path = `/conversations/${id}/items`;
  for (let count = 0; count < 49; count++) await calls.post(path, { items });
  await calls.post(path, { items: items.slice(0, 18) });
  await calls.created({ input: "the last that fits", conversation: id });
  const requests = calls.requests.length;
  const answer = await calls.post("/responses", { model: "m", input: "one", conversation: id });
  assertEquals(refusalOf(answer), [400, "conversation_item_limit_exceeded", null]);
  assertEquals(calls.requests.length, requests);
});

testOverStores(
  "an item that the conversation already has is refused before a request is sent upstream",
  async () => {
    const calls = stateful();
    const id = await conversation(calls, [{ id: "mine", role: "user", content: "zero" }]);
    const input = [{ id: "mine", role: "user", content: "again" }];
    const answer = await calls.post("/responses", { model: "m", input, conversation: id });
    assertEquals(refusalOf(answer), [400, "duplicate_item_id", "input"]);
    assertEquals(calls.requests.length, 0);
  },
);

testOverStores(
  "a conversation that is deleted during a turn is not created again, and the response fails",
  async () => {
    for (const stream of [false, true]) {
      const holder: { calls?: Stateful; id?: string } = {};
      const calls = stateful(TWO, async () => {
        await holder.calls?.state.objects.conversations.delete(holder.id ?? "");
        return {};
      });
      holder.calls = calls;
      holder.id = await conversation(calls);
      const body = { model: "m", input: "one", conversation: holder.id, stream };
      const answer = await calls.post("/responses", body);
      if (stream) assertMatch(errorIn(answer), /no such conversation/);
      else assertEquals(refusalOf(answer), [404, "conversation_not_found", "conversation"]);
      assertEquals([
        calls.state.objects.stats().conversations.entries,
        calls.state.objects.stats().responses.entries,
      ], [0, 0]);
    }
  },
);

testOverStores(
  "a reference is replaced by the stored item, with its type or as an ID alone",
  async () => {
    const calls = stateful();
    const first = await calls.created({ input: [{ id: "mine", role: "user", content: "one" }] });
    const output = idOf(objectsAt(first, "output")[0] ?? {});
    await conversation(calls, [{ id: "other", role: "user", content: "from a conversation" }]);
    const input = [
      { type: "item_reference", id: "mine" },
      { id: output },
      { type: null, id: "other" },
      { role: "user", content: "two" },
    ];
    const second = await calls.created({ input });
    assertEquals(messagesOf(calls, 2), [
      "user: one",
      "assistant: answer 1",
      "user: from a conversation",
      "user: two",
    ]);
    const path = `/responses/${idOf(second)}/input_items?order=asc`;
    assertEquals(idsIn(await calls.get(path)).slice(0, 3), ["mine", output, "other"]);
  },
);

testOverStores("a reference to an item of the history does not repeat the item", async () => {
  const calls = stateful();
  const first = await calls.created({ input: "one" });
  const output = idOf(objectsAt(first, "output")[0] ?? {});
  const input = [{ type: "item_reference", id: output }, { role: "user", content: "two" }];
  await calls.created({ input, previous_response_id: idOf(first) });
  assertEquals(messagesOf(calls, 2), ["user: one", "assistant: answer 1", "user: two"]);
});

testOverStores("a reference to an unknown item is refused by its path", async () => {
  const calls = stateful();
  const gone = await calls.created({ input: "one" });
  const output = idOf(objectsAt(gone, "output")[0] ?? {});
  await calls.delete(`/responses/${idOf(gone)}`);
  for (const reference of [{ id: "none" }, { type: "item_reference", id: output }]) {
    const input = [{ role: "user", content: "x" }, reference];
    const answer = await calls.post("/responses", { model: "m", input });
    assertEquals(refusalOf(answer), [400, "invalid_value", "input[1].id"]);
  }
  assertEquals(calls.requests.length, 1);
});
