import type { Client } from "../../client.ts";
import { agentText, cliShots } from "../session.ts";

/** opencode with its provider for compatible APIs, as `switchyard agent opencode` sets it up. */
export const client: Client = {
  title: "opencode, openai-compatible",
  packages: ["opencode-ai@1.18.33"],
  shots: cliShots((place, model, prompt) => ({
    command: "opencode",
    args: ["run", prompt],
    environment: { SWITCHYARD_KEY: place.apiKey },
    setup: agentText("opencode", place, model),
    files: { "work/opencode.json": JSON.stringify({ autoupdate: false }) },
  })),
};
