import { piClient } from "../pi.ts";

/** pi over Responses. */
export const client = piClient("pi, Responses", "openai-responses");
