import type { Client } from "../../client.ts";
import { APPLY_PATCH, patchingCodex } from "../codex.ts";

/** The same over a WebSocket. */
export const client: Client = patchingCodex("Codex CLI, freeform over WebSocket", APPLY_PATCH, {
  entry: { apply_patch_tool_type: "freeform" },
  usesWebSocket: true,
});
