import type { Client } from "../../client.ts";
import { codeTool, patchingCodex } from "../codex.ts";

/** Codex with a model that its built-in catalog has, whose tools are declared in the input. */
export const client: Client = patchingCodex(
  "Codex CLI, its own model name",
  codeTool("functions__exec"),
  { ownModel: "gpt-5.6-sol" },
);
