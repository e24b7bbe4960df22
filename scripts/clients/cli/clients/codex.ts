import type { Client } from "../../client.ts";
import { CODEX } from "../codex.ts";
import { cliShots } from "../session.ts";

/** Codex over Responses. Its hosted web search is off: only a native provider could have it. */
export const client: Client = {
  title: "Codex CLI, Responses",
  packages: [CODEX],
  shots: cliShots(({ baseURL, apiKey }, model, prompt) => ({
    command: "codex",
    args: ["exec", "--skip-git-repo-check", "--model", model, prompt],
    environment: { GATEWAY_KEY: apiKey },
    files: {
      ".codex/config.toml": `model_provider = "gateway"
web_search = "disabled"
[model_providers.gateway]
name = "gateway"
base_url = "${baseURL}"
env_key = "GATEWAY_KEY"
wire_api = "responses"
`,
    },
  })),
};
