import assert from "node:assert/strict";
import {
  type EmbeddingModel,
  embedMany,
  generateText,
  isStepCount,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  tool,
} from "ai";
import type { Client, Place } from "../client.ts";
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
  WEATHER,
  weather,
} from "./fixtures.ts";

/** How a provider package of the AI SDK makes its models. */
export interface AiModels {
  language(place: Place, name: string): LanguageModel;
  embedding?(place: Place, name: string): EmbeddingModel;
  /** True if the package reads thinking, and if it sends it back. */
  readonly showsThinking: boolean;
  readonly sendsThinkingBack: boolean;
  /** Options of the package under which the model thinks and shows its thinking. */
  readonly thinking: Parameters<typeof generateText>[0]["providerOptions"];
}

const TOOLS = {
  weather: tool({
    description: fixtures.weather.description,
    inputSchema: WEATHER,
    execute: weather,
  }),
  clock: tool({ description: fixtures.clock.description, inputSchema: CLOCK, execute: clock }),
};

/** Returns the uses of the AI SDK with the models of one of its provider packages. */
export function aiShots(models: AiModels): Client["shots"] {
  const embedding = models.embedding?.bind(models);
  const common = (place: Place, name: string) => ({
    model: models.language(place, name),
    maxRetries: 0,
  });
  return {
    async question(place) {
      const { text } = await generateText({
        ...common(place, "sim-echo"),
        prompt: fixtures.question,
      });
      assert.equal(text, fixtures.question);
    },
    async stream(place) {
      const { textStream, usage } = streamText({
        ...common(place, "sim-echo"),
        prompt: fixtures.question,
      });
      checkStream(await Array.fromAsync(textStream));
      assert(((await usage).outputTokens ?? 0) > 0, "there is no usage");
    },
    async tools(place) {
      const result = streamText({
        ...common(place, "sim-tools-parallel"),
        prompt: fixtures.toolQuestion,
        tools: TOOLS,
        stopWhen: isStepCount(3),
      });
      await result.consumeStream();
      assert.equal(await result.text, fixtures.bothResults);
      assert.equal((await result.steps).length, 2);
    },
    async structured(place) {
      const { output } = await generateText({
        ...common(place, "sim-json"),
        prompt: fixtures.question,
        output: Output.object({ schema: REPORT }),
      });
      assert.deepEqual(output, fixtures.reportValue);
    },
    async json(place) {
      const { output } = await generateText({
        ...common(place, "sim-json"),
        prompt: fixtures.jsonQuestion,
        output: Output.json(),
      });
      assert.deepEqual(output, fixtures.jsonValue);
    },
    async turns(place) {
      const instructions = fixtures.system;
      const question: ModelMessage = { role: "user", content: fixtures.firstTurn };
      const first = await generateText({
        ...common(place, "sim-echo"),
        instructions,
        messages: [question],
      });
      const second = await generateText({
        ...common(place, "sim-transcript"),
        instructions,
        messages: [
          question,
          ...first.responseMessages,
          { role: "user", content: fixtures.secondTurn },
        ],
      });
      checkTranscript(second.text);
    },
    async image(place) {
      const { text } = await generateText({
        ...common(place, "sim-transcript"),
        messages: [{
          role: "user",
          content: [
            { type: "text", text: fixtures.imageQuestion },
            { type: "file", data: IMAGE_URL, mediaType: "image/png" },
          ],
        }],
      });
      checkImage(text);
    },
    async thinking(place) {
      const shared = {
        tools: TOOLS,
        stopWhen: isStepCount(3),
        providerOptions: models.thinking ?? {},
      };
      const question: ModelMessage = { role: "user", content: fixtures.toolQuestion };
      const first = await generateText({
        ...common(place, "sim-recall"),
        ...shared,
        messages: [question],
      });
      checkRecalled(first.text, models.sendsThinkingBack);
      if (models.showsThinking) checkThinking(first.steps[0]?.reasoningText);
      const second = await generateText({
        ...common(place, "sim-think"),
        ...shared,
        messages: [
          question,
          ...first.responseMessages,
          { role: "user", content: fixtures.question },
        ],
      });
      assert.equal(second.text, fixtures.question);
    },
    async required(place) {
      const { toolCalls } = await generateText({
        ...common(place, "sim-tools"),
        prompt: fixtures.toolQuestion,
        tools: TOOLS,
        toolChoice: { type: "tool", toolName: "clock" },
      });
      assert.deepEqual(toolCalls.map(({ toolName, input }) => [toolName, input]), [
        ["clock", { zone: "UTC" }],
      ]);
    },
    ...embedding !== undefined && {
      async embeddings(place) {
        const { embeddings } = await embedMany({
          model: embedding(place, "sim-embed"),
          values: [fixtures.firstTurn, fixtures.secondTurn],
          maxRetries: 0,
        });
        checkEmbeddings(embeddings);
      },
    },
  };
}
