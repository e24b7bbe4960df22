import type { Client } from "../../client.ts";
import { codeTool, patchingCodex } from "../codex.ts";

/** The same over a WebSocket. */
export const client: Client = patchingCodex(
  "Codex CLI, its own model name over WebSocket",
  codeTool("functions__exec"),
  { ownModel: "gpt-5.6-sol", usesWebSocket: true },
);
