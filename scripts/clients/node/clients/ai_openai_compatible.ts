import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { aiShots } from "../ai_sdk.ts";
import type { Client, Place } from "../../client.ts";

function connect({ baseURL, apiKey }: Place) {
  return createOpenAICompatible({
    name: "gateway",
    baseURL,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
}

/** The AI SDK with its package for compatible providers. */
export const client: Client = {
  title: "ai with @ai-sdk/openai-compatible",
  packages: ["ai", "@ai-sdk/openai-compatible"],
  shots: aiShots({
    language: (place, name) => connect(place)(place.model(name)),
    embedding: (place, name) => connect(place).embeddingModel(place.model(name)),
    showsThinking: true,
    sendsThinkingBack: true,
    thinking: { gateway: { reasoningEffort: "low" } },
  }),
};
