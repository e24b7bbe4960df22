import type { Client } from "../../client.ts";
import { APPLY_PATCH, patchingCodex } from "../codex.ts";

/** Codex with a catalog whose model patches files with a custom tool. */
export const client: Client = patchingCodex("Codex CLI, freeform", APPLY_PATCH, {
  entry: { apply_patch_tool_type: "freeform" },
});
