import type { Client } from "../../client.ts";
import { agentText, cliShots } from "../session.ts";

/** Qwen Code over Chat Completions, as `switchyard agent qwen` sets it up. */
export const client: Client = {
  title: "qwen-code, Chat Completions",
  packages: ["@qwen-code/qwen-code@0.24.4"],
  shots: cliShots((place, model, prompt) => ({
    command: "qwen",
    args: ["--auth-type", "openai", "--prompt", prompt],
    environment: { SWITCHYARD_KEY: place.apiKey },
    setup: agentText("qwen", place, model),
  })),
};
