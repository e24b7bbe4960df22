import type OpenAI from "openai";
import { NotFoundError } from "openai";
import { assert, assertEquals } from "../support/assert.ts";
import { testOverStores } from "../support/over_stores.ts";
import { assertValid } from "../support/schemas.ts";
import { startSdk, WIRES } from "./sdk.ts";

async function isGone(call: Promise<unknown>): Promise<boolean> {
  return await call.then(() => false, (error) => error instanceof NotFoundError);
}

/** Everything that the pages of a list give, one page after the other. */
async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  return await Array.fromAsync(pages);
}

function textOf(item: OpenAI.Conversations.ConversationItem): string {
  if (item.type !== "message") return item.type;
  return item.content.map((part) => "text" in part ? part.text : part.type).join("");
}

for (const wire of WIRES) {
  testOverStores(
    `the SDK creates, continues, reads and deletes responses over ${wire}`,
    async () => {
      await using sdk = startSdk(wire);
      const { responses } = sdk.client;
      const first = await responses.create({ model: "sim-echo", input: "good day" });
      assertEquals([first.output_text, first.status], ["good day", "completed"]);
      const runner = responses.stream({
        model: "sim-echo",
        input: "and good night",
        previous_response_id: first.id,
      });
      const second = await runner.finalResponse();
      assertEquals(second.output_text, "and good night");
      assertEquals(second.previous_response_id, first.id);
      const kept = await responses.retrieve(second.id);
      assertEquals(kept.output_text, "and good night");
      assertEquals(kept.output.map(({ id }) => id), second.output.map(({ id }) => id));
      const items = await all(responses.inputItems.list(second.id, { limit: 2, order: "asc" }));
      assertEquals(items.length, 3);
      assertEquals(new Set(items.map((item) => "id" in item ? item.id : null)).size, 3);
      await responses.delete(first.id);
      assert(await isGone(responses.retrieve(first.id)));
      assert(await isGone(responses.delete(first.id)));
      assertEquals((await responses.retrieve(second.id)).id, second.id);
    },
  );

  testOverStores(`the SDK hands tool results back to a stored response over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const { responses } = sdk.client;
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const tools = [
      { type: "function", name: "weather", description: null, parameters, strict: false } as const,
    ];
    const first = await responses.create({ model: "sim-tools", input: "Weather?", tools });
    const [call] = first.output.filter((item) => item.type === "function_call");
    assert(call !== undefined);
    const second = await responses.create({
      model: "sim-tools",
      tools,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: call.call_id, output: "sunny" }],
    });
    assertEquals(second.output_text, 'The tools said "sunny".');
  });

  testOverStores(`the SDK holds a conversation over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const { responses, conversations } = sdk.client;
    const conversation = await conversations.create({ metadata: { topic: "greetings" } });
    const input = { model: "sim-echo", conversation: conversation.id };
    const first = await responses.create({ ...input, input: "one" });
    assertEquals(first.conversation?.id, conversation.id);
    await responses.stream({ ...input, input: "two", store: false }).finalResponse();
    const items = await all(conversations.items.list(conversation.id, { limit: 3, order: "asc" }));
    assertEquals(items.map(textOf), ["one", "one", "two", "two"]);
    for (const item of items) assertValid("ConversationItem", item);
  });
}

testOverStores("the SDK leads a conversation through its whole life", async () => {
  await using sdk = startSdk("compat");
  const { conversations } = sdk.client;
  const empty = await conversations.create();
  assertEquals([empty.object, empty.metadata], ["conversation", {}]);
  assertValid("ConversationResource", empty);
  const { id } = await conversations.create({
    items: [{ type: "message", role: "user", content: "zero" }],
    metadata: { a: "1" },
  });
  assertEquals((await conversations.retrieve(id)).metadata, { a: "1" });
  assertEquals((await conversations.update(id, { metadata: { b: "2" } })).metadata, { b: "2" });
  const added = await conversations.items.create(id, {
    items: [
      { type: "message", role: "assistant", content: "one" },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "4" },
    ],
  });
  assertValid("ConversationItemList", added);
  assertEquals(added.data.length, 3);
  const listed = await all(conversations.items.list(id, { limit: 1 }));
  assertEquals(listed.map(textOf), ["function_call_output", "function_call", "one", "zero"]);
  const [first] = added.data;
  assert(first !== undefined && "id" in first && typeof first.id === "string");
  const item = await conversations.items.retrieve(first.id, { conversation_id: id });
  assertEquals(textOf(item), "one");
  const left = await conversations.items.delete(first.id, { conversation_id: id });
  assertEquals([left.id, left.object], [id, "conversation"]);
  assert(await isGone(conversations.items.retrieve(first.id, { conversation_id: id })));
  const deleted = await conversations.delete(id);
  assertEquals(deleted, { id, object: "conversation.deleted", deleted: true });
  assert(await isGone(conversations.retrieve(id)));
});
