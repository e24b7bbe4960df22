import type { Client } from "../../client.ts";
import { codeTool, patchingCodex } from "../codex.ts";

/** Codex with a catalog whose model writes code that calls the tools. */
export const client: Client = patchingCodex("Codex CLI, code mode", codeTool("exec"), {
  entry: { apply_patch_tool_type: "freeform", tool_mode: "code_mode_only" },
});
