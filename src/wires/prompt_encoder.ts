import type { Result } from "../core/result.ts";
import { newCarrier } from "../prompt/carry.ts";
import { parsePrompt } from "../prompt/chat/parse_prompt.ts";
import { foldSystem } from "../prompt/fold_system.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { ChatRequest } from "./chat_request/chat_request.ts";
import { newStrictSchemas } from "./verified/strict_schemas.ts";
import type { Encoding, Target, UpstreamRequest, Wire } from "./wire.ts";

/**
 * Encodes a Chat request by its prompt: the `encode` of a wire whose `encodePrompt` is `encode`.
 */
export function newPromptEncoder(encode: NonNullable<Wire["encodePrompt"]>): Wire["encode"] {
  return (chat: ChatRequest, target: Target): Result<UpstreamRequest> => {
    const { provider, omitTools, wire: { fields } } = target;
    const carrier = newCarrier({ fields, provider, ...omitTools !== undefined && { omitTools } });
    const prompt = parsePrompt(chat, carrier);
    if (!prompt.ok) return prompt;
    const { schemas = newStrictSchemas() } = chat;
    return encode(foldedFor(prompt.value, { target, carrier }), { target, carrier, schemas });
  };
}

/** Returns the prompt with system messages where the provider expects them. */
export function foldedFor(
  prompt: Prompt,
  { target, carrier }: Pick<Encoding, "target" | "carrier">,
): Prompt {
  const isFolded = target.provider.settings.system_messages === "leading";
  return isFolded ? foldSystem(prompt, carrier) : prompt;
}
