import { VERSION } from "../../agent/results.ts";
import type { Client } from "../../client.ts";
import { agentText, faultShot, type Starter, taskShots } from "../session.ts";

/** Returns how the client is started. */
export const start: Starter = (place, model, prompt) => ({
  command: "claude",
  args: ["-p", prompt, "--allowedTools", "Bash"],
  environment: {
    SWITCHYARD_KEY: place.apiKey,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  },
  setup: agentText("claude", place, model),
});

/** Claude Code, as `switchyard agent claude` sets it up. */
export const client: Client = {
  title: "Claude Code",
  packages: [`@anthropic-ai/claude-code@${VERSION}`],
  shots: {
    ...taskShots(start, (command) => ({ name: "Bash", input: { command } })),
    failing: faultShot(start, "failing"),
  },
};
