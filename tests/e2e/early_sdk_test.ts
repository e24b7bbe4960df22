import Anthropic from "@anthropic-ai/sdk";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type LanguageModel, streamText } from "ai";
import fc from "fast-check";
import OpenAI from "openai";
import { assert, assertEquals } from "../support/assert.ts";
import {
  type Answer,
  callLate,
  failing,
  lateGateway,
  type LateTarget,
  REQUESTS,
  streaming,
  STREAMS,
} from "../support/late_upstreams.ts";

type Api = keyof typeof REQUESTS;

const TYPES = ["compat", "messages", "responses"] as const;
const USER = { role: "user", content: "Hi" } as const;

/** Reads a stream with a client: its text and why it ended, or its error. */
type Read = (text: string) => Promise<unknown>;

/** A fetch whose response is this stream. */
function answering(text: string) {
  const headers = { "content-type": "text/event-stream" };
  return () => Promise.resolve(new Response(text, { headers }));
}

async function readByAiSdk(model: LanguageModel) {
  const parts: unknown[] = [];
  const result = streamText({ model, prompt: "Hi", maxRetries: 0, onError() {} });
  for await (const part of result.stream) {
    if (part.type === "text-delta") parts.push(part.text);
    if (part.type === "error") parts.push("error");
    if (part.type === "finish") parts.push(part.finishReason);
  }
  return parts;
}

function openai(text: string): OpenAI {
  return new OpenAI({ apiKey: "k", baseURL: "http://x/v1", maxRetries: 0, fetch: answering(text) });
}

const READERS: Readonly<Record<Api, Readonly<Record<string, Read>>>> = {
  chat: {
    async openai(text) {
      const stream = openai(text).chat.completions.stream({ model: "m", messages: [USER] });
      const { choices: [choice] } = await stream.finalChatCompletion();
      return [choice?.message.content, choice?.finish_reason];
    },
    ai: (text) =>
      readByAiSdk(
        createOpenAICompatible({ name: "x", baseURL: "http://x/v1", fetch: answering(text) })("m"),
      ),
  },
  messages: {
    async anthropic(text) {
      const client = new Anthropic({ apiKey: "k", maxRetries: 0, fetch: answering(text) });
      const stream = client.messages.stream({ model: "m", max_tokens: 9, messages: [USER] });
      const { content, stop_reason } = await stream.finalMessage();
      return [JSON.parse(JSON.stringify(content)), stop_reason];
    },
  },
  responses: {
    async openai(text) {
      const { output_text, status } = await openai(text).responses
        .stream({ model: "m", input: "Hi" }).finalResponse();
      return [output_text, status];
    },
    ai: (text) => readByAiSdk(createOpenAI({ apiKey: "k", fetch: answering(text) }).responses("m")),
  },
};

async function textOf(
  api: Api,
  type: LateTarget["type"],
  answer: Answer,
  route: string,
  more = "",
) {
  const gateway = lateGateway([{ type, answers: [answer] }], route, more);
  return (await callLate(gateway, api)).text;
}

Deno.test("comments, pings and early events never change what the SDKs make of a stream", async () => {
  const seconds = (min: number, max: number) => fc.integer({ min, max });
  for (const api of ["chat", "messages", "responses"] as const) {
    for (const type of TYPES) {
      const pieces = STREAMS[type] ?? [];
      const plain = await textOf(api, type, streaming(pieces, 0), "strategy: weighted");
      for (const [name, read] of Object.entries(READERS[api])) {
        const expected = await read(plain);
        assert(JSON.stringify(expected).includes("Alpha"), `${name} ${JSON.stringify(expected)}`);
        await fc.assert(
          fc.asyncProperty(
            ...[seconds(1, 40), seconds(1, 20), seconds(0, 60), seconds(0, 20)] as const,
            async (early, ping, lateS, gapS) => {
              const answer = streaming(pieces, lateS * 1_000, gapS * 1_000);
              const server = `server: {ping_interval: ${ping}s}`;
              const text = await textOf(api, type, answer, `early_head: ${early}s`, server);
              assertEquals(await read(text), expected, text);
            },
          ),
          { numRuns: 2 },
        );
      }
    }
  }
});

Deno.test("the SDKs report the failure of a stream that began early", async () => {
  for (const type of TYPES) {
    const failed = failing(500, 30_000);
    const route = "early_head: 20s";
    const chat = await textOf("chat", type, failed, route);
    const chatError = await READERS.chat.openai?.(chat).catch((error) => error);
    assert(chatError instanceof OpenAI.APIError);
    const messages = await textOf("messages", type, failed, route);
    const messagesError = await READERS.messages.anthropic?.(messages).catch((error) => error);
    assert(messagesError instanceof Anthropic.APIError);
    assertEquals(messagesError.type, "overloaded_error");
    const responses = await textOf("responses", type, failed, route);
    assertEquals(await READERS.responses.openai?.(responses), ["", "failed"]);
    for (const [api, text] of Object.entries({ chat, messages, responses })) {
      const { ai } = READERS[api as Api];
      if (ai === undefined) continue;
      const parts = await ai(text);
      assert(Array.isArray(parts) && parts.includes("error"), `${api} ${JSON.stringify(parts)}`);
    }
  }
});
