import { createOpenAI } from "@ai-sdk/openai";
import { aiShots } from "../ai_sdk.ts";
import type { Client } from "../../client.ts";

/** The AI SDK with its OpenAI package over Chat Completions. */
export const client: Client = {
  title: "ai with @ai-sdk/openai, Chat Completions",
  packages: ["ai", "@ai-sdk/openai"],
  shots: aiShots({
    language: (place, name) => createOpenAI(place).chat(place.model(name)),
    embedding: (place, name) => createOpenAI(place).embedding(place.model(name)),
    showsThinking: false,
    sendsThinkingBack: false,
    thinking: { openai: { reasoningEffort: "low", forceReasoning: true } },
  }),
};
