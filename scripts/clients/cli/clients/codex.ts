import type { Client } from "../../client.ts";
import { CODEX } from "../codex.ts";
import { agentText, cliShots } from "../session.ts";

/**
 * Codex over Responses, with the profile of `switchyard agent codex`. Its hosted web search is off:
 * only a native provider could have it.
 */
export const client: Client = {
  title: "Codex CLI, Responses",
  packages: [CODEX],
  shots: cliShots((place, model, prompt) => ({
    command: "codex",
    args: ["exec", "-p", "switchyard", "--skip-git-repo-check", prompt],
    environment: { SWITCHYARD_KEY: place.apiKey },
    files: { ".codex/switchyard.config.toml": agentText("codex", place, model) },
  })),
};
