import type { Result } from "../core/failure/result.ts";
import { type Carrier, newCarrier } from "../prompt/carry.ts";
import { parsePrompt } from "../prompt/chat/parse_prompt.ts";
import { foldSystem } from "../prompt/fold_system.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { ChatRequest } from "./chat_request.ts";
import { newStrictSchemas } from "./verified/strict_schemas.ts";
import type { Encoding, Target, UpstreamRequest, Wire } from "./wire.ts";

/**
 * Encodes a Chat request by its prompt: the `encode` of a wire whose `encodePrompt` is `encode`.
 */
export function newPromptEncoder(encode: Wire["encodePrompt"]): Wire["encode"] {
  return (chat: ChatRequest, target: Target): Result<UpstreamRequest> => {
    const carrier = newTargetCarrier(target);
    const prompt = parsePrompt(chat, carrier);
    if (!prompt.ok) return prompt;
    const { schemas = newStrictSchemas() } = chat;
    return encode(foldedFor(prompt.value, { target, carrier }), { target, carrier, schemas });
  };
}

/** Returns the carrier of a request to a target. */
export function newTargetCarrier(
  { provider, omitTools = [], wire: { fields } }: Pick<Target, "provider" | "omitTools" | "wire">,
): Carrier {
  return newCarrier({ fields, provider, omitTools });
}

/** Encodes the prompt of another client API for a target. */
export function encodePromptFor(prompt: Prompt, encoding: Encoding): Result<UpstreamRequest> {
  return encoding.target.wire.encodePrompt(foldedFor(prompt, encoding), encoding);
}

/** Returns the prompt with system messages where the provider expects them. */
export function foldedFor(
  prompt: Prompt,
  { target, carrier }: Pick<Encoding, "target" | "carrier">,
): Prompt {
  const isFolded = target.provider.settings.system_messages === "leading";
  return isFolded ? foldSystem(prompt, carrier) : prompt;
}
