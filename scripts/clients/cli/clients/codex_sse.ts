import type { Client } from "../../client.ts";
import { CODEX, codexStart } from "../codex.ts";
import { cliShots, faultShot, taskShots } from "../session.ts";

/** The same over SSE: over a WebSocket a reload applies to the next connection. */
export const client: Client = {
  title: "Codex CLI, Responses over SSE",
  packages: [CODEX],
  shots: {
    stream: cliShots(codexStart).stream,
    ...taskShots(codexStart, (cmd) => ({ name: "exec_command", input: { cmd } })),
    silent: faultShot(
      (place, model, prompt) => codexStart(place, model, prompt, { idleMs: 4_000 }),
      "silent",
    ),
  },
};
