import type { Client, Place } from "../client.ts";
import { cliShots, type Starter } from "./session.ts";

/** The npm package of pi. */
export const PI = "@mariozechner/pi-coding-agent@0.73.1";

/** Returns pi with one of its APIs. */
export function piClient(title: string, api: string): Client {
  const start: Starter = ({ baseURL: baseUrl, apiKey }: Place, id, prompt) => ({
    command: "pi",
    args: ["--provider", "gateway", "--model", id, "--print", prompt],
    files: {
      ".pi/agent/models.json": JSON.stringify({
        providers: {
          gateway: { baseUrl, api, apiKey, models: [{ id, reasoning: id.includes("think") }] },
        },
      }),
    },
  });
  return { title, packages: [PI], shots: cliShots(start) };
}
