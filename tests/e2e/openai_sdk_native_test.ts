import { NotFoundError } from "openai";
import { assert, assertEquals } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { startNativeSdk } from "./sdk.ts";

async function isGone(call: Promise<unknown>): Promise<boolean> {
  return await call.then(() => false, (error) => error instanceof NotFoundError);
}

const WORDS = "one two three";

Deno.test("the SDK creates, reads, continues and deletes native responses", async () => {
  await using sdk = startNativeSdk();
  const { responses } = sdk.client;
  const first = await responses.create({ model: "sim-echo", input: WORDS });
  assertValid("Response", first);
  assertEquals(first.output_text, WORDS);
  const read = await responses.retrieve(first.id, { include: ["message.output_text.logprobs"] });
  assertEquals([read.id, read.output], [first.id, first.output]);
  const second = await responses.create({
    model: "sim-echo",
    input: "four",
    previous_response_id: first.id,
  });
  assertEquals(second.previous_response_id, first.id);
  const pages = responses.inputItems.list(second.id, { limit: 1, order: "asc" });
  const items = await Array.fromAsync(pages);
  assertEquals(items.map((item) => "role" in item ? item.role : null), [
    "user",
    "assistant",
    "user",
  ]);
  await responses.delete(first.id);
  assert(await isGone(responses.retrieve(first.id)));
  assertEquals((await responses.retrieve(second.id)).output_text, "four");
});

Deno.test("the SDK streams a native response, and streams it again from any event", async () => {
  await using sdk = startNativeSdk();
  const { responses } = sdk.client;
  const stream = await responses.create({ model: "sim-echo", input: WORDS, stream: true });
  const events = await Array.fromAsync(stream);
  assertEquals(events.at(-1)?.type, "response.completed");
  assertEquals(events.map(({ sequence_number: number }) => number), events.map((_event, at) => at));
  const [created] = events;
  assert(created?.type === "response.created");
  const { id } = created.response;
  const runner = responses.stream({ response_id: id, starting_after: 2 });
  assertEquals((await runner.finalResponse()).output_text, WORDS);
  const again = await responses.retrieve(id, { stream: true, starting_after: 2 });
  assertEquals(await Array.fromAsync(again), events.slice(3));
  const text = await responses.stream({ model: "sim-echo", input: WORDS }).finalResponse();
  assertEquals(text.output_text, WORDS);
});

Deno.test("the SDK follows a native background response and cancels another", async () => {
  await using sdk = startNativeSdk();
  const { responses } = sdk.client;
  const asked = { model: "sim-echo", input: WORDS, background: true };
  const queued = await responses.create(asked);
  assertEquals(queued.status, "queued");
  assertEquals((await responses.retrieve(queued.id)).status, "in_progress");
  assertEquals((await responses.retrieve(queued.id)).output_text, WORDS);
  const other = await responses.create(asked);
  assertEquals((await responses.cancel(other.id)).status, "cancelled");
  assertEquals((await responses.retrieve(other.id)).status, "cancelled");
});

Deno.test("the SDK leaves a background stream early and cancels what it began", async () => {
  await using sdk = startNativeSdk();
  const { responses } = sdk.client;
  const asked = { model: "sim-slow", input: WORDS, background: true } as const;
  const stream = await responses.create({ ...asked, stream: true });
  for await (const event of stream) {
    assert(event.type === "response.created");
    assertEquals((await responses.cancel(event.response.id)).status, "cancelled");
    break;
  }
});

Deno.test("the SDK compacts an input and counts its tokens natively", async () => {
  await using sdk = startNativeSdk();
  const { responses } = sdk.client;
  const count = await responses.inputTokens.count({ model: "sim-echo", input: WORDS });
  assertEquals(count, { object: "response.input_tokens", input_tokens: 3 });
  const compacted = await responses.compact({ model: "sim-echo", input: WORDS });
  assertEquals(compacted.object, "response.compaction");
  assertValid("CompactResource", compacted);
});

Deno.test("the SDK leads a native conversation through its whole life", async () => {
  await using sdk = startNativeSdk();
  const { conversations, responses } = sdk.client;
  const { id } = await conversations.create({
    items: [{ type: "message", role: "user", content: "zero" }],
    metadata: { a: "1" },
  });
  assertEquals((await conversations.retrieve(id)).metadata, { a: "1" });
  assertEquals((await conversations.update(id, { metadata: { b: "2" } })).metadata, { b: "2" });
  const asked = { model: "sim-echo", conversation: id };
  const first = await responses.create({ ...asked, input: "one" });
  assertEquals(first.conversation?.id, id);
  await responses.stream({ ...asked, input: "two", store: false }).finalResponse();
  const added = await conversations.items.create(id, {
    items: [{ type: "message", role: "user", content: "three" }],
  });
  assertValid("ConversationItemList", added);
  const listed = await Array.fromAsync(conversations.items.list(id, { limit: 2, order: "asc" }));
  assertEquals(listed.length, 6);
  const [item] = added.data;
  assert(item !== undefined && "id" in item && typeof item.id === "string");
  const shown = await conversations.items.retrieve(item.id, { conversation_id: id });
  assertEquals(shown, item);
  assertEquals((await conversations.items.delete(item.id, { conversation_id: id })).id, id);
  assert(await isGone(conversations.items.retrieve(item.id, { conversation_id: id })));
  assertEquals((await conversations.delete(id)).deleted, true);
  assert(await isGone(conversations.retrieve(id)));
});

Deno.test("the SDK leads stored completions through their whole life", async () => {
  await using sdk = startNativeSdk();
  const { completions } = sdk.client.chat;
  const asked = {
    model: "sim-echo",
    messages: [{ role: "user" as const, content: WORDS }],
    store: true,
    metadata: { a: "1" },
  };
  const created = await completions.create(asked);
  const stream = await completions.create({ ...asked, stream: true });
  const [chunk] = await Array.fromAsync(stream);
  assert(chunk !== undefined);
  const ids = [created.id, chunk.id];
  const listed = await Array.fromAsync(completions.list({ limit: 1, metadata: { a: "1" } }));
  assertEquals(listed.map(({ id }) => id), ids);
  for (const id of ids) {
    assertEquals((await completions.retrieve(id)).choices[0]?.message.content, WORDS);
    const updated = await completions.update(id, { metadata: { b: "2" } });
    assertEquals(updated.id, id);
    const messages = await Array.fromAsync(completions.messages.list(id, { limit: 1 }));
    assertEquals(messages.map(({ content }) => content), [WORDS]);
    assertEquals((await completions.delete(id)).deleted, true);
    assert(await isGone(completions.retrieve(id)));
  }
});

Deno.test("two accounts of one upstream never see each other's objects", async () => {
  await using sdk = startNativeSdk(["one", "two"]);
  const { responses } = sdk.client;
  const asked = { model: "sim-echo", input: WORDS };
  const first = await responses.create(asked, { headers: { "X-Gateway-Provider": "one" } });
  const second = await responses.create(asked, { headers: { "X-Gateway-Provider": "two" } });
  assert(first.id !== second.id);
  for (const [id, provider] of [[first.id, "one"], [second.id, "two"]] as const) {
    const { response } = await responses.retrieve(id).withResponse();
    assertEquals(response.headers.get("x-gateway-provider"), provider);
    const other = provider === "one" ? "two" : "one";
    const error = await responses.retrieve(id, {}, { headers: { "X-Gateway-Provider": other } })
      .then(() => null, (reason: unknown) => reason);
    assert(error instanceof Error && error.message.includes("belongs to another provider"));
    const followed = await responses.create({ ...asked, previous_response_id: id })
      .withResponse();
    assertEquals(followed.response.headers.get("x-gateway-provider"), provider);
  }
});
