import type { JsonObject } from "../../src/core/json/json.ts";
import type { StateOperation } from "../../src/core/state_operation.ts";
import { type Stateful, stateful, terminalOf } from "../api/responses/stateful.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { COMPLETION, MESSAGES } from "../support/chat_call.ts";
import {
  type Account,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  responseOf,
  streamOf,
} from "../support/native_gateway.ts";
import { bindingOf } from "../support/object_store.ts";
import { type OutageStore, withOutage } from "../support/outage.ts";
import { objectsAt, textAt } from "../support/state_call.ts";
import type { Outage } from "../support/switched_store.ts";

const PENDING = "x-gateway-state";

/** A gateway whose store leaves when an operation begins. */
async function leavingAt(
  operation: StateOperation,
  outage: Outage = "refusing",
): Promise<{ readonly calls: Stateful; readonly outage: OutageStore }> {
  const made = await withOutage((options) => stateful(undefined, undefined, options));
  made.outage.raw.leaveAt(operation, outage);
  return made;
}

async function native(
  can: Account["can"] & object,
  body: JsonObject | string,
): Promise<{ readonly calls: NativeGateway; readonly outage: OutageStore }> {
  return await withOutage((options) =>
    nativeGateway(nativeConfig({ up: { can } }), () => ({ body }), options)
  );
}

for (const stream of [false, true]) {
  for (const how of ["refusing", "deaf"] as const) {
    Deno.test(`a response whose store leaves at its end is delivered and stored later (${how}, stream ${stream})`, async () => {
      const { calls, outage } = await leavingAt("response_store", how);
      const reply = await calls.post("/responses", { model: "m", input: "one", stream });
      assertEquals(reply.status, 200);
      const resource = stream ? terminalOf(reply) : reply.json;
      assertEquals(resource.status, "completed");
      assertEquals(reply.headers.get(PENDING), stream ? null : "pending");
      assertEquals(outage.store.availability.pendingWrites(), 1);
      assertEquals(outage.failures, ["response_store"]);
      assertEquals(outage.log.slice(0, 1), [
        "error response_store waits for the state store, which is unavailable; its call is served",
      ]);
      const { id } = resource;
      // This process finds it meanwhile.
      assertEquals((await calls.get(`/responses/${id}`)).json, resource);
      assertEquals((await calls.get(`/responses/${id}/input_items`)).status, 200);
      const continued = { model: "m", input: "two", previous_response_id: String(id) };
      assertEquals((await calls.post("/responses", continued)).status, 503);
      assertEquals((await calls.post("/responses", { ...continued, store: false })).status, 200);
      assertEquals(objectsAt(calls.requests.at(-1)?.body ?? {}, "messages").length, 3);
      await outage.comeBack();
      assertEquals(outage.store.availability.pendingWrites(), 0);
      assertEquals(outage.losses, []);
      const stored = await outage.raw.objects.responses.find(String(id));
      assert(stored.ok && stored.value?.snapshot?.resource.id === id);
      assertEquals((await calls.get(`/responses/${id}`)).json, resource);
      await outage.store.close();
    });
  }
}

for (const how of ["refusing", "deaf"] as const) {
  Deno.test(`a response that waits can be deleted, and is not in the store later (${how})`, async () => {
    const { calls, outage } = await leavingAt("response_store", how);
    const { json } = await calls.post("/responses", { model: "m", input: "one" });
    const path = `/responses/${json.id}`;
    assertEquals((await calls.delete(path)).status, 204);
    assertEquals((await calls.delete(path)).status, 404);
    assertEquals((await calls.get(path)).status, 404);
    await outage.comeBack();
    assertEquals([(await calls.get(path)).status, outage.losses], [404, []]);
    assertEquals(outage.store.availability.pendingWrites(), 0);
    assertEquals(outage.raw.objects.stats().responses.entries, 0);
    await outage.store.close();
  });

  Deno.test(`a turn is added to its conversation once when the store is back (${how})`, async () => {
    const { calls, outage } = await leavingAt("conversation_append", how);
    const conversation = textAt((await calls.post("/conversations", {})).json, "id");
    const body = { model: "m", input: "one", conversation };
    const reply = await calls.post("/responses", { ...body, store: false });
    assertEquals([reply.status, reply.headers.get(PENDING)], [200, "pending"]);
    assertEquals((await calls.post("/responses", { ...body, store: false })).status, 503);
    await outage.comeBack();
    const { json } = await calls.get(`/conversations/${conversation}/items?order=asc`);
    assertEquals(objectsAt(json, "data").map(({ role }) => role), ["user", "assistant"]);
    assertEquals([outage.losses, outage.store.availability.pendingWrites()], [[], 0]);
    await outage.store.close();
  });
}

Deno.test("a read of a conversation waits for its turn while the store is back but not yet known to be", async () => {
  const { calls, outage } = await leavingAt("conversation_append");
  const conversation = textAt((await calls.post("/conversations", {})).json, "id");
  await calls.post("/responses", { model: "m", input: "one", conversation, store: false });
  outage.raw.comeBack();
  const { json } = await calls.get(`/conversations/${conversation}/items`);
  assertEquals(objectsAt(json, "data").length, 2);
  await outage.store.close();
});

Deno.test("a turn whose conversation is gone when the store is back is lost, with an error line and a metric", async () => {
  const { calls, outage } = await leavingAt("conversation_append");
  const conversation = textAt((await calls.post("/conversations", {})).json, "id");
  await calls.post("/responses", { model: "m", input: "one", conversation, store: false });
  outage.raw.comeBack();
  await outage.raw.objects.conversations.delete(conversation);
  await outage.comeBack();
  assertEquals(outage.losses, [["refused", 1]]);
  assert(
    outage.log.includes(
      "error conversation_append is lost: the state store refused it later (conversation_not_found)",
    ),
  );
  await outage.store.close();
});

Deno.test("the owner of a stored completion waits, and the completion is served meanwhile", async () => {
  const { calls, outage } = await native(["chat_completions_lifecycle"], COMPLETION);
  outage.raw.leaveAt("owner_bind");
  const reply = await calls.post("/chat/completions", { model: "m", ...MESSAGES, store: true });
  assertEquals([reply.status, reply.headers.get(PENDING)], [200, "pending"]);
  assertEquals((await calls.get("/chat/completions/chatcmpl-1")).status, 200);
  await outage.comeBack();
  assertEquals((await bindingOf(calls, "chat_completion", "chatcmpl-1"))?.kind, "bound");
  await outage.store.close();
});

Deno.test("the owner of a conversation at a provider waits, and the conversation is served meanwhile", async () => {
  const body = { id: "conv_1", object: "conversation" };
  const { calls, outage } = await native(["conversations"], body);
  outage.raw.leaveAt("owner_bind");
  const reply = await calls.post("/conversations", {});
  assertEquals([reply.status, reply.headers.get(PENDING)], [200, "pending"]);
  assertEquals((await calls.get("/conversations/conv_1")).status, 200);
  await outage.comeBack();
  assertEquals((await bindingOf(calls, "conversation", "conv_1"))?.kind, "bound");
  await outage.store.close();
});

Deno.test("an object whose owner waits can be deleted at its provider, and has no owner later", async () => {
  const created = { id: "conv_1", object: "conversation" };
  const deleted = { id: "conv_1", object: "conversation.deleted", deleted: true };
  const { calls, outage } = await withOutage((options) =>
    nativeGateway(
      nativeConfig({ up: { can: ["conversations"] } }),
      ({ method }) => ({ body: method === "DELETE" ? deleted : created }),
      options,
    )
  );
  outage.raw.leaveAt("owner_bind", "deaf");
  await calls.post("/conversations", {});
  assertEquals((await calls.delete("/conversations/conv_1")).json, deleted);
  assertEquals((await calls.get("/conversations/conv_1")).status, 503);
  await outage.comeBack();
  assertEquals(await bindingOf(calls, "conversation", "conv_1"), null);
  assertEquals((await calls.get("/conversations/conv_1")).status, 404);
  await outage.store.close();
});

Deno.test("the owner of a native response waits, from the beginning of a background stream on", async () => {
  const can = ["responses_lifecycle", "background_responses"];
  for (const background of [false, true]) {
    const { calls, outage } = await native(can, streamOf("resp_1", { background }));
    outage.raw.leaveAt("response_bind");
    const reply = await calls.post("/responses", {
      model: "m",
      input: "x",
      stream: true,
      background,
    });
    assertEquals([reply.status, terminalOf(reply).status], [200, "completed"]);
    assertEquals(outage.store.availability.pendingWrites(), background ? 2 : 1);
    await outage.comeBack();
    assertEquals((await bindingOf(calls, "response", "resp_1"))?.kind, "bound");
    assertEquals(outage.store.availability.pendingWrites(), 0);
    await outage.store.close();
  }
});

Deno.test("a delete at a provider succeeds although the store has left, and its owner expires", async () => {
  const can = ["responses_lifecycle"];
  const deleted = { id: "resp_1", object: "response", deleted: true };
  const { calls, outage } = await withOutage((options) =>
    nativeGateway(
      nativeConfig({ up: { can } }),
      ({ method }) => ({ body: method === "DELETE" ? deleted : responseOf("resp_1") }),
      options,
    )
  );
  await calls.post("/responses", { model: "m", input: "x" });
  outage.raw.leaveAt("response_unbind");
  const reply = await calls.delete("/responses/resp_1");
  assertEquals([reply.status, reply.json], [200, deleted]);
  assertEquals([outage.failures, outage.store.availability.pendingWrites()], [[
    "response_unbind",
  ], 0]);
  assert(outage.log.some((line) => line.startsWith("error response_unbind failed")));
  await outage.comeBack();
  assertEquals((await bindingOf(calls, "response", "resp_1"))?.kind, "bound");
  await outage.store.close();
});

Deno.test("beyond the bound a write is lost: the response is delivered, marked, logged and counted", async () => {
  const { calls, outage } = await withOutage(
    (options) => stateful(undefined, undefined, options),
    { max_bytes: 10 },
  );
  outage.raw.leaveAt("response_store");
  const reply = await calls.post("/responses", { model: "m", input: "one" });
  assertEquals([reply.status, reply.headers.get(PENDING)], [200, "lost"]);
  assertEquals([outage.losses, outage.store.availability.pendingWrites()], [[["full", 1]], 0]);
  assertEquals(
    outage.log[0],
    "error response_store is lost: too many writes wait for the state store",
  );
  await outage.store.close();
});

Deno.test("a write is lost when its lifetime is over", async () => {
  const { calls, outage } = await withOutage(
    (options) => stateful(undefined, undefined, options),
    { ttl: 60_000 },
  );
  outage.raw.leaveAt("response_store");
  const { json } = await calls.post("/responses", { model: "m", input: "one" });
  await calls.world.advance(59_000);
  assertEquals(outage.store.availability.pendingWrites(), 1);
  await calls.world.advance(2_000);
  assertEquals([outage.losses, outage.store.availability.pendingWrites()], [[["expired", 1]], 0]);
  assertEquals((await calls.get(`/responses/${json.id}`)).status, 503);
  await outage.store.close();
});

Deno.test("at shutdown the waiting writes are tried once more", async () => {
  const { calls, outage } = await leavingAt("response_store");
  const { json } = await calls.post("/responses", { model: "m", input: "one" });
  outage.raw.comeBack();
  await outage.store.close();
  const found = await outage.raw.objects.responses.find(String(json.id));
  assert(found.ok && found.value?.snapshot !== null);
  assertEquals([outage.losses, outage.raw.isClosed], [[], true]);
});

Deno.test("what cannot be written at shutdown is logged with its count", async () => {
  const { calls, outage } = await leavingAt("response_store");
  await calls.post("/responses", { model: "m", input: "one" });
  await outage.store.close();
  assertEquals([outage.losses, outage.raw.isClosed], [[["shutdown", 1]], true]);
  assertEquals(
    outage.log.at(-1),
    "error 1 waiting writes are lost: the state store is unavailable at shutdown",
  );
  assertEquals(calls.world.waiting, 0);
});
