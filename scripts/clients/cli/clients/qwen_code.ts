import type { Client } from "../../client.ts";
import { agentText, cliShots, type Starter, taskShots } from "../session.ts";

const start: Starter = (place, model, prompt) => ({
  command: "qwen",
  // Its first tool would otherwise start agents that do the same without end.
  args: ["--auth-type", "openai", "--yolo", "--exclude-tools", "agent", "--prompt", prompt],
  environment: { SWITCHYARD_KEY: place.apiKey },
  setup: agentText("qwen", place, model),
});

/** Qwen Code over Chat Completions, as `switchyard agent qwen` sets it up. */
export const client: Client = {
  title: "qwen-code, Chat Completions",
  packages: ["@qwen-code/qwen-code@0.24.4"],
  shots: {
    ...cliShots(start),
    ...taskShots(
      start,
      (command) => ({ name: "run_shell_command", input: { command, is_background: false } }),
    ),
  },
};
