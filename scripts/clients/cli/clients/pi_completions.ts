import { piClient } from "../pi.ts";

/** pi over Chat Completions. */
export const client = piClient("pi, Chat Completions", "openai-completions");
