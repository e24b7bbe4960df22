import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, type ModelMessage, Output } from "ai";
import type OpenAI from "openai";
import { zodFunction, zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { zodResponsesFunction } from "openai/helpers/zod";
import { z } from "zod";
import { assert, assertEquals } from "../support/assert.ts";
import { startSdk } from "./sdk.ts";
import { SENDERS, startSender } from "./senders.ts";

type Message = OpenAI.ChatCompletionMessageParam;

const QUESTION = { role: "user" as const, content: "Weather?" };
const LAST = { role: "user" as const, content: "good day" };
const PLACE = z.object({ city: z.string(), days: z.number() });

/** Asserts that the provider repeats the last message of a conversation. */
async function assertContinued(client: OpenAI, history: readonly Message[]): Promise<void> {
  const messages = [QUESTION, ...history, LAST];
  const body = { model: "sim-echo", messages };
  const { choices } = await client.chat.completions.create(body);
  assertEquals(choices[0]?.message.content, "good day");
  const streamed = await client.chat.completions.stream(body).finalContent();
  assertEquals(streamed, "good day");
}

/** The output items of a response that are also input items by their type. */
function turnOf({ output }: OpenAI.Responses.Response): OpenAI.Responses.ResponseInput {
  return output.flatMap((item) =>
    item.type === "message" || item.type === "function_call" ? [item] : []
  );
}

for (const sender of SENDERS) {
  Deno.test(`the SDK sends back the object that it parsed from a chat over ${sender}`, async () => {
    await using sdk = startSender(sender);
    const body = {
      model: "sim-json",
      messages: [QUESTION],
      response_format: zodResponseFormat(PLACE, "place"),
    };
    const { chat } = sdk.client;
    const whole = (await chat.completions.parse(body)).choices[0]?.message;
    const streamed = await chat.completions.stream(body).finalMessage();
    for (const message of [whole, streamed]) {
      assert(message !== undefined);
      assert("parsed" in message && PLACE.safeParse(message.parsed).success);
      await assertContinued(sdk.client, [message]);
    }
  });

  Deno.test(`the SDK sends back the arguments that it parsed from a chat over ${sender}`, async () => {
    // Not every provider type takes strict tools, so the calls come from one that does.
    await using maker = startSdk("compat");
    await using sdk = startSender(sender);
    const { choices } = await maker.client.chat.completions.parse({
      model: "sim-parallel",
      messages: [QUESTION],
      tools: ["weather", "forecast"].map((name) => zodFunction({ name, parameters: PLACE })),
    });
    const message = choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    assert(message !== undefined);
    assertEquals(
      calls.map((call) =>
        call.type === "function" && PLACE.safeParse(call.function.parsed_arguments).success
      ),
      [
        true,
        true,
      ],
    );
    const results = calls.map(({ id }) => ({
      role: "tool" as const,
      tool_call_id: id,
      content: "sunny",
    }));
    await assertContinued(sdk.client, [message, ...results]);
  });

  Deno.test(`an agent that copies a message into its text part continues over ${sender}`, async () => {
    await using sdk = startSender(sender);
    const { choices } = await sdk.client.chat.completions.create({
      model: "sim-think",
      messages: [QUESTION],
    });
    const message = choices[0]?.message;
    assert(message !== undefined);
    const { content, ...copy } = message;
    const part = { type: "text" as const, text: content ?? "", annotations: [], ...copy };
    await assertContinued(sdk.client, [{ role: "assistant", content: [part] }]);
    const call = {
      id: "call_1",
      type: "function" as const,
      function: { name: "weather", arguments: '{"city":"Oslo"}' },
    };
    const called = { ...copy, refusal: null, tool_calls: [call] };
    const spread = { type: "text" as const, text: "One moment.", ...called };
    await assertContinued(sdk.client, [
      { role: "assistant", content: [spread], tool_calls: [{ ...call }] },
      { role: "tool", tool_call_id: "call_1", content: "sunny" },
    ]);
  });

  Deno.test(`the SDK sends back the output that it parsed from a response over ${sender}`, async () => {
    await using maker = startSdk("compat");
    await using sdk = startSender(sender);
    const structured = {
      model: "sim-json",
      input: [QUESTION],
      store: false,
      text: { format: zodTextFormat(PLACE, "place") },
    };
    const tools = [zodResponsesFunction({ name: "weather", parameters: PLACE })];
    const answered = await sdk.client.responses.parse(structured);
    const called = await maker.client.responses.parse({
      model: "sim-tools",
      input: [QUESTION],
      store: false,
      tools,
    });
    assert(answered.output_parsed !== null);
    const [call] = called.output;
    assert(call?.type === "function_call" && call.parsed_arguments !== null);
    const result = {
      type: "function_call_output" as const,
      call_id: call.call_id,
      output: "sunny",
      status: "completed" as const,
    };
    const input = [QUESTION, ...turnOf(answered), ...turnOf(called), result, LAST];
    const body = { model: "sim-echo", input, store: false };
    assertEquals((await sdk.client.responses.create(body)).output_text, "good day");
    const streamed = await sdk.client.responses.stream(body).finalResponse();
    assertEquals(streamed.output_text, "good day");
  });

  for (const api of ["openai.chat", "openai.responses", "openai-compatible"] as const) {
    Deno.test(`the AI SDK sends back structured output by ${api} over ${sender}`, async () => {
      await using sdk = startSender(sender);
      const settings = { baseURL: `${sdk.gateway.url}/v1`, apiKey: "sk-client" };
      const openai = createOpenAI(settings);
      const compatible = createOpenAICompatible({
        name: "gateway",
        supportsStructuredOutputs: true,
        ...settings,
      });
      const make = {
        "openai.chat": openai.chat,
        "openai.responses": openai.responses,
        "openai-compatible": compatible,
      }[api];
      const schema = jsonSchema<{ city: string }>({
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false,
      });
      const messages: ModelMessage[] = [QUESTION];
      const first = await generateText({
        model: make("sim-json"),
        messages,
        output: Output.object({ schema }),
        maxRetries: 0,
      });
      assertEquals(typeof first.output.city, "string");
      const second = await generateText({
        model: make("sim-echo"),
        messages: [...messages, ...first.responseMessages, LAST],
        maxRetries: 0,
      });
      assertEquals(second.text, "good day");
    });
  }
}
