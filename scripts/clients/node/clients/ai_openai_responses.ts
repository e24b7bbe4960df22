import { createOpenAI } from "@ai-sdk/openai";
import { aiShots } from "../ai_sdk.ts";
import type { Client } from "../../client.ts";

/** The AI SDK with its OpenAI package over Responses. */
export const client: Client = {
  title: "ai with @ai-sdk/openai, Responses",
  packages: ["ai", "@ai-sdk/openai"],
  shots: aiShots({
    language: (place, name) => createOpenAI(place).responses(place.model(name)),
    showsThinking: false,
    sendsThinkingBack: true,
    thinking: {
      openai: {
        store: false,
        reasoningEffort: "low",
        reasoningSummary: "auto",
        forceReasoning: true,
      },
    },
  }),
};
