import type { JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { listIn, type NativeClient, newNativeClient, textIn } from "./native_client.ts";

const HI = { role: "user", content: "hi" };

async function started(items: readonly JsonObject[] = [HI]): Promise<[NativeClient, string]> {
  const upstream = newNativeClient();
  const { id } = await upstream.json("POST /conversations", { items, metadata: { a: "b" } });
  return [upstream, `/conversations/${id}`];
}

async function typesIn(upstream: NativeClient, path: string): Promise<readonly unknown[]> {
  const page = await upstream.json(`GET ${path}/items?order=asc`);
  assertValid("ConversationItemList", page);
  return listIn(page, "data").map(({ type, role }) => role ?? type);
}

Deno.test("a conversation can be created, updated, retrieved and deleted", async () => {
  const [upstream, path] = await started();
  const created = await upstream.json(`GET ${path}`);
  assertValid("ConversationResource", created);
  assertEquals(created.metadata, { a: "b" });
  const updated = await upstream.json(`POST ${path}`, { metadata: { c: "d" } });
  assertEquals(updated, { ...created, metadata: { c: "d" } });
  assertEquals((await upstream.json(`POST ${path}`, { metadata: null })).metadata, {});
  const deleted = await upstream.json(`DELETE ${path}`);
  assertValid("DeletedConversationResource", deleted);
  await upstream.json(`GET ${path}`, undefined, 404);
  await upstream.json(`GET ${path}/items`, undefined, 404);
});

Deno.test("a conversation can be created without items and metadata", async () => {
  const upstream = newNativeClient();
  for (const body of [undefined, {}, { items: null, metadata: null }]) {
    assertEquals((await upstream.json("POST /conversations", body)).metadata, {});
  }
});

Deno.test("conversation items can be added in order, listed, retrieved and deleted", async () => {
  const [upstream, path] = await started();
  const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "c", output: "4" };
  const answer = { role: "assistant", content: "done" };
  const thinking = { type: "reasoning", summary: [], content: null };
  const items = [call, output, thinking, answer];
  const added = await upstream.json(`POST ${path}/items`, { items });
  assertValid("ConversationItemList", added);
  const [first] = listIn(added, "data");
  assertEquals([added.first_id, first?.type], [first?.id ?? null, "function_call"]);
  const all = ["user", "function_call", "function_call_output", "reasoning", "assistant"];
  assertEquals(await typesIn(upstream, path), all);
  assertEquals(await upstream.json(`GET ${path}/items/${first?.id}`), first);
  assertEquals(
    await upstream.json(`DELETE ${path}/items/${first?.id}`),
    await upstream.json(`GET ${path}`),
  );
  await upstream.json(`GET ${path}/items/${first?.id}`, undefined, 404);
  await upstream.json(`DELETE ${path}/items/${first?.id}`, undefined, 404);
  const newest = await upstream.json(`GET ${path}/items?limit=1`);
  assertEquals([listIn(newest, "data")[0]?.role, newest.has_more], ["assistant", true]);
});

Deno.test("invalid items and metadata are refused, and no item is added", async () => {
  const [upstream, path] = await started();
  const many = Array.from({ length: 21 }, () => HI);
  for (const items of [[], many, [{ role: "robot", content: "x" }], [HI, { type: "poem" }]]) {
    await upstream.json(`POST ${path}/items`, { items }, 400);
  }
  await upstream.json("POST /conversations", { items: many }, 400);
  await upstream.json("POST /conversations", { metadata: { a: 1 } }, 400);
  await upstream.json(`POST ${path}`, {}, 400);
  await upstream.json(`POST ${path}`, { metadata: { a: 1 } }, 400);
  const [item] = listIn(await upstream.json(`GET ${path}/items`), "data");
  await upstream.json(`POST ${path}/items`, { items: [item] }, 400);
  assertEquals(await typesIn(upstream, path), ["user"]);
});

Deno.test("a conversation cannot be read, deleted or continued by another account", async () => {
  const [upstream, path] = await started();
  const body = {
    model: "sim-echo",
    input: "x",
    conversation: path.slice("/conversations/".length),
  };
  for (const line of [`GET ${path}`, `DELETE ${path}`, `GET ${path}/items`]) {
    await upstream.json(line, undefined, 404, "sk-two");
  }
  await upstream.json("POST /responses", body, 404, "sk-two");
  await upstream.json(`GET ${path}`);
});

Deno.test("a response is added to its conversation, also with store set to false", async () => {
  const [upstream, path] = await started([]);
  const id = path.slice("/conversations/".length);
  for (const [conversation, store] of [[id, true], [{ id }, false]] as const) {
    const body = { model: "sim-echo", input: "hi", conversation, store };
    const response = await upstream.json("POST /responses", body);
    assertEquals([textIn(response), response.conversation], ["hi", { id }]);
  }
  assertEquals(await typesIn(upstream, path), ["user", "assistant", "user", "assistant"]);
  const [item] = listIn(await upstream.json(`GET ${path}/items`), "data");
  const again = { model: "sim-echo", input: [item], conversation: id };
  await upstream.json("POST /responses", again, 400);
});

Deno.test("only a completed response is added to its conversation", async () => {
  const [upstream, path] = await started([]);
  const conversation = path.slice("/conversations/".length);
  for (const model of ["sim-length", "sim-native-failed"]) {
    await upstream.json("POST /responses", { model, input: "hi", conversation });
  }
  const body = { model: "sim-broken-stream", input: "hi", conversation, stream: true };
  await (await upstream.call("POST /responses", body)).text();
  assertEquals(await typesIn(upstream, path), []);
  const later = { model: "sim-echo", input: "hi", conversation, background: true };
  const { id } = await upstream.json("POST /responses", later);
  await upstream.json(`GET /responses/${id}`);
  assertEquals(await typesIn(upstream, path), []);
  await upstream.json(`GET /responses/${id}`);
  assertEquals(await typesIn(upstream, path), ["user", "assistant"]);
  assert((await (await upstream.call(`GET /responses/${id}?stream=true`)).text()).length > 0);
  assertEquals(await typesIn(upstream, path), ["user", "assistant"]);
});
