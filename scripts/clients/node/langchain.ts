import assert from "node:assert/strict";
import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, type ChatOpenAIFields, OpenAIEmbeddings } from "@langchain/openai";
import type { Client, Place } from "../client.ts";
import {
  checkEmbeddings,
  checkImage,
  checkRecalled,
  checkStream,
  checkTranscript,
  CLOCK,
  clock,
  fixtures,
  IMAGE_URL,
  REPORT,
  WEATHER,
  weather,
} from "./fixtures.ts";

const { weather: weatherTexts, clock: clockTexts } = fixtures;
const TOOLS = [
  tool(weather, { name: "weather", description: weatherTexts.description, schema: WEATHER }),
  tool(clock, { name: "clock", description: clockTexts.description, schema: CLOCK }),
];

const ANY_OBJECT = { type: "object", properties: { text: { type: "string" } } };

function connect(place: Place, name: string, fields: ChatOpenAIFields): ChatOpenAI {
  return new ChatOpenAI({
    model: place.model(name),
    apiKey: place.apiKey,
    configuration: { baseURL: place.baseURL },
    maxRetries: 0,
    ...fields,
  });
}

/** Runs the calls of an answer and asks again, until an answer has no calls. */
async function loop(
  model: ChatOpenAI,
  messages: BaseMessage[],
  isStreamed = false,
): Promise<AIMessageChunk> {
  const bound = model.bindTools(TOOLS);
  for (;;) {
    const chunks = isStreamed ? await Array.fromAsync(await bound.stream(messages)) : [];
    const answer = isStreamed
      ? chunks.reduce((whole, chunk) => whole.concat(chunk))
      : await bound.invoke(messages);
    messages.push(answer);
    const calls = answer.tool_calls ?? [];
    if (calls.length === 0) return answer;
    for (const call of calls) {
      const chosen = TOOLS.find(({ name }) => name === call.name);
      assert(chosen !== undefined && call.id !== undefined);
      const content = call.name === "weather" ? weather(call.args) : clock(call.args);
      messages.push(new ToolMessage({ content, tool_call_id: call.id }));
    }
  }
}

/** Returns the uses of LangChain's model with these settings, which may send its thinking back. */
export function langchainShots(
  fields: ChatOpenAIFields,
  sendsThinkingBack: boolean,
): Client["shots"] {
  const chat = (place: Place, name: string, more: ChatOpenAIFields = {}) =>
    connect(place, name, { ...fields, ...more });
  return {
    async question(place) {
      const answer = await chat(place, "sim-echo").invoke(fixtures.question);
      assert.equal(answer.text, fixtures.question);
    },
    async stream(place) {
      const stream = await chat(place, "sim-echo").stream(fixtures.question);
      const chunks = await Array.fromAsync(stream);
      checkStream(chunks.map(({ text }) => text));
    },
    async tools(place) {
      for (const isStreamed of [false, true]) {
        const model = chat(place, "sim-tools-parallel");
        const answer = await loop(model, [new HumanMessage(fixtures.toolQuestion)], isStreamed);
        assert.equal(answer.text, fixtures.bothResults);
      }
    },
    async structured(place) {
      const model = chat(place, "sim-json");
      const value = await model.withStructuredOutput(REPORT).invoke(fixtures.question);
      assert.deepEqual(value, fixtures.reportValue);
    },
    async json(place) {
      const model = chat(place, "sim-json").withStructuredOutput(ANY_OBJECT, {
        method: "jsonMode",
      });
      assert.deepEqual(await model.invoke(fixtures.jsonQuestion), fixtures.jsonValue);
    },
    async turns(place) {
      const messages = [new SystemMessage(fixtures.system), new HumanMessage(fixtures.firstTurn)];
      const first = await chat(place, "sim-echo").invoke(messages);
      const second = await chat(place, "sim-transcript").invoke([
        ...messages,
        first,
        new HumanMessage(fixtures.secondTurn),
      ]);
      checkTranscript(second.text);
    },
    async image(place) {
      const answer = await chat(place, "sim-transcript").invoke([
        new HumanMessage({
          content: [
            { type: "text", text: fixtures.imageQuestion },
            { type: "image_url", image_url: { url: IMAGE_URL } },
          ],
        }),
      ]);
      checkImage(answer.text);
    },
    async thinking(place) {
      const reasoning = { effort: "low" } as const;
      const messages: BaseMessage[] = [new HumanMessage(fixtures.toolQuestion)];
      const first = await loop(chat(place, "sim-recall", { reasoning }), messages);
      checkRecalled(first.text, sendsThinkingBack);
      const second = await chat(place, "sim-think", { reasoning }).invoke([
        ...messages,
        new HumanMessage(fixtures.question),
      ]);
      assert.equal(second.text, fixtures.question);
    },
    async required(place) {
      const model = chat(place, "sim-tools");
      const value = await model.withStructuredOutput(REPORT, {
        name: "report",
        method: "functionCalling",
      }).invoke(fixtures.toolQuestion);
      assert.deepEqual(value, fixtures.reportValue);
    },
    async embeddings(place) {
      const model = new OpenAIEmbeddings({
        model: place.model("sim-embed"),
        apiKey: place.apiKey,
        configuration: { baseURL: place.baseURL },
        maxRetries: 0,
      });
      const texts = [fixtures.firstTurn, fixtures.secondTurn];
      checkEmbeddings(await model.embedDocuments(texts));
    },
  };
}
