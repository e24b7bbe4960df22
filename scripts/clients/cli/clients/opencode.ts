import type { Client } from "../../client.ts";
import { agentText, cliShots, type Starter, taskShots } from "../session.ts";

/** Returns how the client is started. */
export const start: Starter = (place, model, prompt) => ({
  command: "opencode",
  // It puts a word with a space into quotes.
  args: ["run", ...prompt.split(" ")],
  environment: { SWITCHYARD_KEY: place.apiKey },
  setup: agentText("opencode", place, model),
  files: { "work/opencode.json": JSON.stringify({ autoupdate: false }) },
});

/** opencode with its provider for compatible APIs, as `switchyard agent opencode` sets it up. */
export const client: Client = {
  title: "opencode, openai-compatible",
  packages: ["opencode-ai@1.18.33"],
  shots: {
    ...cliShots(start),
    ...taskShots(
      start,
      (command) => ({ name: "bash", input: { command, description: "Runs it" } }),
    ),
  },
};
