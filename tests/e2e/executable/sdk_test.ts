import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { openSocketClient } from "../../support/socket_client.ts";
import { WIRES } from "../sdk.ts";
import { startedSdk } from "./running.ts";

const messages = [{ role: "user", content: "good day to you" }] as const;

Deno.test("the program serves the SDK over each provider type", async (test) => {
  await using sdk = await startedSdk();
  const { client } = sdk;

  for (const wire of WIRES) {
    await test.step(`a completion over ${wire}`, async () => {
      const { choices, usage } = await client.chat.completions.create({
        model: `${wire}/sim-echo`,
        messages: [...messages],
      });
      assertEquals(choices[0]?.message.content, "good day to you");
      assertEquals(usage?.completion_tokens, 4);
    });

    await test.step(`a stream over ${wire}`, async () => {
      const stream = await client.chat.completions.create({
        model: `${wire}/sim-long-50`,
        messages: [...messages],
        stream: true,
        stream_options: { include_usage: true },
      });
      const chunks = await Array.fromAsync(stream);
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
      assertMatch(text, /^word1 word2 .* word50$/);
      assertEquals(chunks.at(-1)?.usage?.completion_tokens, 50);
    });

    await test.step(`tools over ${wire}`, async () => {
      const { choices } = await client.chat.completions.create({
        model: `${wire}/sim-tools`,
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

    await test.step(`a response that continues another over ${wire}`, async () => {
      const first = await client.responses.create({ model: `${wire}/sim-echo`, input: "good day" });
      assertEquals([first.status, first.output_text], ["completed", "good day"]);
      const stream = await client.responses.create({
        model: `${wire}/sim-long-50`,
        input: "and more",
        previous_response_id: first.id,
        stream: true,
      });
      const events = await Array.fromAsync(stream);
      assertEquals(events.map((event) => event.sequence_number), [...events.keys()]);
      assertEquals(events.at(-1)?.type, "response.completed");
      await client.responses.delete(first.id);
    });

    await test.step(`a conversation over ${wire}`, async () => {
      const { id } = await client.conversations.create({ metadata: { topic: "days" } });
      const call = { model: `${wire}/sim-echo`, input: "good day", conversation: id };
      await client.responses.create(call);
      const items = await Array.fromAsync(await client.conversations.items.list(id));
      assertEquals(items.length, 2);
      assertEquals((await client.conversations.delete(id)).deleted, true);
    });

    await test.step(`models of ${wire}`, async () => {
      const models = await Array.fromAsync(await client.models.list());
      assert(models.some(({ id }) => id === `${wire}/sim-echo`));
    });
  }

  await test.step("Responses calls over a WebSocket, one after the other", async () => {
    await using dialogue = await openSocketClient(sdk.url);
    const call = { type: "response.create", model: "compat/sim-echo" };
    const first = await dialogue.turn({ ...call, input: "good day to you" });
    assertEquals([first.ending, first.output], ["response.completed", "good day to you"]);
    const second = { ...call, input: "and good night", previous_response_id: first.id };
    assertEquals((await dialogue.turn(second)).output, "and good night");
  });

  for (const wire of ["compat", "local"] as const) {
    await test.step(`embeddings over ${wire}`, async () => {
      const { data, usage } = await client.embeddings.create({
        model: `${wire}/sim-embed`,
        input: ["good day", "good night"],
        encoding_format: "float",
      });
      assertEquals(data.map(({ index }) => index), [0, 1]);
      assertEquals(usage.prompt_tokens, 4);
    });
  }
});
