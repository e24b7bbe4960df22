import { compat } from "../../src/wires/compat/compat.ts";
import { local } from "../../src/wires/local/local.ts";
import { messages } from "../../src/wires/messages/messages.ts";
import { responses } from "../../src/wires/responses/responses.ts";
import type { Result } from "../../src/core/failure/result.ts";
import { encodeAs, providerOf, type Written } from "./translated.ts";

/** The protocols that translate a chat request. */
export const TRANSLATED = ["messages", "local", "responses"] as const;

const ENCODERS = {
  messages: (text: string) => encodeAs("POST /v1/messages", text, providerOf(messages)),
  local: (text: string) => encodeAs("POST /api/chat", text, providerOf(local)),
  responses: (text: string) =>
    encodeAs("POST /responses", text, providerOf(compat), "m", responses),
} as const;

/** Returns the upstream request for an assistant message after "Hi". */
export function encodeSpoken(
  wire: typeof TRANSLATED[number],
  message: Written,
  ...others: readonly Written[]
): Result<string> {
  const list = [{ role: "user", content: "Hi" }, { role: "assistant", ...message }, ...others];
  return ENCODERS[wire](JSON.stringify({ model: "m", messages: list }));
}
