import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { openSocketClient } from "../../support/socket_client.ts";
import { WIRES } from "../sdk.ts";
import { startedSdk } from "./running.ts";

const messages = [{ role: "user", content: "good day to you" }] as const;

for (const wire of WIRES) {
  Deno.test(`the program serves the SDK over ${wire}`, async (test) => {
    await using sdk = await startedSdk(wire);
    const { client } = sdk;

    await test.step("a completion", async () => {
      const { choices, usage } = await client.chat.completions.create({
        model: "sim-echo",
        messages: [...messages],
      });
      assertEquals(choices[0]?.message.content, "good day to you");
      assertEquals(usage?.completion_tokens, 4);
    });

    await test.step("a stream", async () => {
      const stream = await client.chat.completions.create({
        model: "sim-long-50",
        messages: [...messages],
        stream: true,
        stream_options: { include_usage: true },
      });
      const chunks = await Array.fromAsync(stream);
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
      assertMatch(text, /^word1 word2 .* word50$/);
      assertEquals(chunks.at(-1)?.usage?.completion_tokens, 50);
    });

    await test.step("tools", async () => {
      const { choices } = await client.chat.completions.create({
        model: "sim-tools",
        messages: [...messages],
        tools: [{
          type: "function",
          function: {
            name: "weather",
            parameters: { type: "object", properties: { city: { type: "string" } } },
          },
        }],
      });
      assertEquals(choices[0]?.finish_reason, "tool_calls");
      const [call] = choices[0]?.message.tool_calls ?? [];
      assert(call?.type === "function" && call.function.name === "weather");
    });

    await test.step("a response that continues another", async () => {
      const first = await client.responses.create({ model: "sim-echo", input: "good day" });
      assertEquals([first.status, first.output_text], ["completed", "good day"]);
      const stream = await client.responses.create({
        model: "sim-long-50",
        input: "and more",
        previous_response_id: first.id,
        stream: true,
      });
      const events = await Array.fromAsync(stream);
      assertEquals(events.map((event) => event.sequence_number), [...events.keys()]);
      assertEquals(events.at(-1)?.type, "response.completed");
      await client.responses.delete(first.id);
    });

    await test.step("a conversation", async () => {
      const { id } = await client.conversations.create({ metadata: { topic: "days" } });
      await client.responses.create({ model: "sim-echo", input: "good day", conversation: id });
      const items = await Array.fromAsync(await client.conversations.items.list(id));
      assertEquals(items.length, 2);
      assertEquals((await client.conversations.delete(id)).deleted, true);
    });

    await test.step("models", async () => {
      const models = await Array.fromAsync(await client.models.list());
      assert(models.some(({ id }) => id === "sim/sim-echo"));
    });
  });
}

Deno.test("the program takes Responses calls over a WebSocket, one after the other", async () => {
  await using sdk = await startedSdk("compat");
  await using dialogue = await openSocketClient(sdk.url);
  const call = { type: "response.create", model: "sim-echo" };
  const first = await dialogue.turn({ ...call, input: "good day to you" });
  assertEquals([first.ending, first.output], ["response.completed", "good day to you"]);
  const second = { ...call, input: "and good night", previous_response_id: first.id };
  assertEquals((await dialogue.turn(second)).output, "and good night");
});

for (const wire of ["compat", "local"] as const) {
  Deno.test(`the program serves embeddings to the SDK over ${wire}`, async () => {
    await using sdk = await startedSdk(wire);
    const { data, usage } = await sdk.client.embeddings.create({
      model: "sim-embed",
      input: ["good day", "good night"],
      encoding_format: "float",
    });
    assertEquals(data.map(({ index }) => index), [0, 1]);
    assertEquals(usage.prompt_tokens, 4);
  });
}
