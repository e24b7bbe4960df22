import { generateText, jsonSchema, tool } from "ai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type OpenAI from "openai";
import { assertEquals } from "../support/assert.ts";
import { SENDERS, startSender } from "./senders.ts";

const CALLED: OpenAI.ChatCompletionMessageParam[] = [
  { role: "user", content: "Weather?" },
  {
    role: "assistant",
    content: null,
    tool_calls: [1, 2].map((number) => ({
      id: `call_${number}`,
      type: "function",
      function: { name: "weather", arguments: '{"city":"Oslo"}' },
    })),
  },
  { role: "tool", tool_call_id: "call_1", content: "sunny" },
  { role: "tool", tool_call_id: "call_2", content: "rainy" },
];
const ANSWERED = [...CALLED, { role: "assistant" as const, content: "Both." }];
const QUESTION = { role: "user" as const, content: "good day" };

for (const sender of SENDERS) {
  Deno.test(`a chat without tools continues earlier tool calls over ${sender}`, async () => {
    await using sdk = startSender(sender);
    for (const history of [CALLED, ANSWERED]) {
      const messages = [...history, QUESTION];
      const { choices } = await sdk.client.chat.completions.create({ model: "sim-echo", messages });
      assertEquals(choices[0]?.message.content, "good day");
    }
  });

  Deno.test(`a response without tools continues earlier tool calls over ${sender}`, async () => {
    await using sdk = startSender(sender);
    const input: OpenAI.Responses.ResponseInput = [
      { role: "user", content: "Weather?" },
      { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "sunny" },
      QUESTION,
    ];
    for (const store of [true, false]) {
      const { output_text } = await sdk.client.responses.create({
        model: "sim-echo",
        input,
        store,
      });
      assertEquals(output_text, "good day");
    }
  });

  Deno.test(`the AI SDK hands a tool conversation to a model without tools over ${sender}`, async () => {
    await using sdk = startSender(sender);
    const settings = { baseURL: `${sdk.gateway.url}/v1`, apiKey: "sk-client" };
    const model = createOpenAICompatible({ name: "gateway", ...settings });
    const weather = tool({
      inputSchema: jsonSchema<{ city: string }>({
        type: "object",
        properties: { city: { type: "string" } },
      }),
      execute: () => "sunny",
    });
    const question = { role: "user" as const, content: "Weather?" };
    const first = await generateText({
      model: model("sim-tools"),
      messages: [question],
      tools: { weather },
      maxRetries: 0,
    });
    const second = await generateText({
      model: model("sim-echo"),
      messages: [question, ...first.responseMessages, QUESTION],
      maxRetries: 0,
    });
    assertEquals(second.text, "good day");
  });
}
