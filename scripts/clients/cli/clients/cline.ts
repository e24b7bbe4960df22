import type { Client } from "../../client.ts";
import { agentText, type Starter, taskShots } from "../session.ts";

const start: Starter = (place, model, prompt) => ({
  command: "cline",
  args: [prompt],
  environment: { SWITCHYARD_KEY: place.apiKey },
  setup: agentText("cline", place, model),
});

/** Cline, as `switchyard agent cline` sets it up. */
export const client: Client = {
  title: "cline, Chat Completions",
  packages: ["cline@3.0.65"],
  shots: taskShots(
    start,
    (command) => ({ name: "run_commands", input: { commands: [command] } }),
  ),
};
