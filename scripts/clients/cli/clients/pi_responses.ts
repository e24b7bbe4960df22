import type { Client } from "../../client.ts";
import { PI } from "../pi.ts";
import { agentText, cliShots, type Starter, taskShots } from "../session.ts";

const start: Starter = (place, model, prompt) => ({
  command: "pi",
  args: ["--provider", "switchyard", "--model", model, "--print", prompt],
  environment: { SWITCHYARD_KEY: place.apiKey },
  files: { ".pi/agent/models.json": agentText("pi", place, model) },
});

/** pi over Responses, with the file of `switchyard agent pi`. */
export const client: Client = {
  title: "pi, Responses",
  packages: [PI],
  shots: {
    ...cliShots(start),
    ...taskShots(start, (command) => ({ name: "bash", input: { command } })),
  },
};
