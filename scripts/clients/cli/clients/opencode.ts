import type { Client } from "../../client.ts";
import { cliShots } from "../session.ts";

/** opencode with its provider for compatible APIs. */
export const client: Client = {
  title: "opencode, openai-compatible",
  packages: ["opencode-ai@1.18.33"],
  shots: cliShots(({ baseURL, apiKey }, model, prompt) => ({
    command: "opencode",
    args: ["run", "--model", `gateway/${model}`, prompt],
    files: {
      "work/opencode.json": JSON.stringify({
        autoupdate: false,
        provider: {
          gateway: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL, apiKey },
            models: { [model]: { name: model, reasoning: model.includes("think") } },
          },
        },
      }),
    },
  })),
};
