import type { Client } from "../../client.ts";
import { cliShots } from "../session.ts";

/** Qwen Code over Chat Completions. */
export const client: Client = {
  title: "qwen-code, Chat Completions",
  packages: ["@qwen-code/qwen-code@0.24.4"],
  shots: cliShots(({ baseURL, apiKey }, model, prompt) => ({
    command: "qwen",
    args: ["--auth-type", "openai", "--model", model, "--prompt", prompt],
    environment: { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL },
  })),
};
