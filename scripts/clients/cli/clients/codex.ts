import type { Client } from "../../client.ts";
import { CODEX, codexStart } from "../codex.ts";
import { cliShots, faultShot, type Starter } from "../session.ts";

const start: Starter = (place, model, prompt) =>
  codexStart(place, model, prompt, { usesWebSocket: true });

/**
 * Codex over Responses, with the profile of `switchyard agent codex`. Its hosted web search is off:
 * only a native provider could have it.
 */
export const client: Client = {
  title: "Codex CLI, Responses",
  packages: [CODEX],
  usesWebSocket: true,
  shots: {
    ...cliShots(start),
    silent: faultShot(
      (place, model, prompt) =>
        codexStart(place, model, prompt, { usesWebSocket: true, idleMs: 4_000 }),
      "silent",
    ),
  },
};
