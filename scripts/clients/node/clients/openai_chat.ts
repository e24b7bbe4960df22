import assert from "node:assert/strict";
import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import type { Client, Place } from "../../client.ts";
import {
  checkEmbeddings,
  checkImage,
  checkRecalled,
  checkStream,
  checkThinking,
  checkTranscript,
  CLOCK,
  clock,
  fixtures,
  IMAGE_URL,
  REPORT,
  runTool,
  WEATHER,
  weather,
} from "../fixtures.ts";

const TOOLS = [
  zodFunction({ name: "weather", parameters: WEATHER, function: weather }),
  zodFunction({ name: "clock", parameters: CLOCK, function: clock }),
];

function connect({ baseURL, apiKey }: Place): OpenAI {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0 });
}

function user(content: string) {
  return { role: "user" as const, content };
}

/** Returns the thinking of a message, a field that the SDK passes on without naming it. */
function thinkingOf(message: object): string | null {
  return "reasoning_content" in message ? String(message.reasoning_content) : null;
}

/** The official SDK over Chat Completions: `create`, `parse` and `runTools`. */
export const client: Client = {
  title: "openai, Chat Completions",
  packages: ["openai"],
  shots: {
    async question(place) {
      const { choices } = await connect(place).chat.completions.create({
        model: place.model("sim-echo"),
        messages: [user(fixtures.question)],
      });
      assert.equal(choices[0]?.message.content, fixtures.question);
    },
    async stream(place) {
      const stream = await connect(place).chat.completions.create({
        model: place.model("sim-echo"),
        messages: [user(fixtures.question)],
        stream: true,
        stream_options: { include_usage: true },
      });
      const chunks = await Array.fromAsync(stream);
      checkStream(chunks.map(({ choices }) => choices[0]?.delta.content ?? ""));
      assert((chunks.at(-1)?.usage?.completion_tokens ?? 0) > 0, "there is no usage");
    },
    async tools(place) {
      const runner = connect(place).chat.completions.runTools({
        model: place.model("sim-tools-parallel"),
        messages: [user(fixtures.toolQuestion)],
        tools: TOOLS,
        stream: true,
      });
      assert.equal(await runner.finalContent(), fixtures.bothResults);
    },
    async structured(place) {
      const openai = connect(place);
      const model = place.model("sim-json");
      const response_format = zodResponseFormat(REPORT, "report");
      const messages: OpenAI.ChatCompletionMessageParam[] = [user(fixtures.question)];
      const first = await openai.chat.completions.parse({ model, messages, response_format });
      const message = first.choices[0]?.message;
      assert.deepEqual(message?.parsed, fixtures.reportValue);
      // What the SDK parsed is sent back with the message.
      messages.push(message, user("And tomorrow?"));
      const second = await openai.chat.completions.parse({ model, messages, response_format });
      assert.deepEqual(second.choices[0]?.message.parsed, fixtures.reportValue);
    },
    async json(place) {
      const { choices } = await connect(place).chat.completions.create({
        model: place.model("sim-json"),
        messages: [user(fixtures.jsonQuestion)],
        response_format: { type: "json_object" },
      });
      assert.deepEqual(JSON.parse(choices[0]?.message.content ?? ""), fixtures.jsonValue);
    },
    async turns(place) {
      const openai = connect(place);
      const messages: OpenAI.ChatCompletionMessageParam[] = [
        { role: "system", content: fixtures.system },
        user(fixtures.firstTurn),
      ];
      const first = await openai.chat.completions.create({
        model: place.model("sim-echo"),
        messages,
      });
      const message = first.choices[0]?.message;
      assert(message !== undefined);
      const second = await openai.chat.completions.create({
        model: place.model("sim-transcript"),
        messages: [...messages, message, user(fixtures.secondTurn)],
      });
      checkTranscript(second.choices[0]?.message.content ?? "");
    },
    async image(place) {
      const { choices } = await connect(place).chat.completions.create({
        model: place.model("sim-transcript"),
        messages: [{
          role: "user",
          content: [
            { type: "text", text: fixtures.imageQuestion },
            { type: "image_url", image_url: { url: IMAGE_URL } },
          ],
        }],
      });
      checkImage(choices[0]?.message.content ?? "");
    },
    async thinking(place) {
      const openai = connect(place);
      const model = place.model("sim-recall");
      const shared = { model, reasoning_effort: "low" as const, tools: TOOLS };
      const messages: OpenAI.ChatCompletionMessageParam[] = [user(fixtures.toolQuestion)];
      // `runTools` sends no thinking back; a program that appends the messages does.
      const first = await openai.chat.completions.create({ ...shared, messages });
      const called = first.choices[0]?.message;
      const [call] = called?.tool_calls ?? [];
      assert(called !== undefined && call?.type === "function", "there is no call");
      checkThinking(thinkingOf(called));
      const { name, arguments: json } = call.function;
      messages.push(called, { role: "tool", tool_call_id: call.id, content: runTool(name, json) });
      const second = await openai.chat.completions.create({ ...shared, messages });
      const answer = second.choices[0]?.message;
      assert(answer !== undefined);
      checkRecalled(answer.content, true);
      const third = await openai.chat.completions.create({
        model: place.model("sim-think"),
        messages: [...messages, answer, user(fixtures.question)],
        reasoning_effort: "low",
      });
      const message = third.choices[0]?.message;
      assert.equal(message?.content, fixtures.question);
      checkThinking(thinkingOf(message));
    },
    async required(place) {
      const { choices } = await connect(place).chat.completions.parse({
        model: place.model("sim-tools"),
        messages: [user(fixtures.toolQuestion)],
        tools: TOOLS,
        tool_choice: { type: "function", function: { name: "clock" } },
        parallel_tool_calls: false,
      });
      const calls = (choices[0]?.message.tool_calls ?? []).filter((call) =>
        call.type === "function"
      );
      assert.deepEqual(calls.map((call) => call.function.parsed_arguments), [{ zone: "UTC" }]);
    },
    async embeddings(place) {
      const { data } = await connect(place).embeddings.create({
        model: place.model("sim-embed"),
        input: [fixtures.firstTurn, fixtures.secondTurn],
      });
      checkEmbeddings(data.map(({ embedding }) => embedding));
    },
  },
};
