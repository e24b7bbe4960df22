import { type Result, success } from "../core/failure/result.ts";
import { bridgeCustomTools, type BridgedPrompt } from "../prompt/bridge_custom_tools.ts";
import { type Carried, type Carrier, newCarrier } from "../prompt/carry.ts";
import { parsePrompt } from "../prompt/chat/parse_prompt.ts";
import { foldSystem } from "../prompt/fold_system.ts";
import { presetPrompt } from "../prompt/preset.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { ChatRequest } from "./chat_request.ts";
import { newStrictSchemas } from "./verified/strict_schemas.ts";
import type { Encoding, Target, UpstreamRequest } from "./wire.ts";

/** Encodes a Chat request by its prompt: the `encode` of wires that do not send its own text. */
export function encodeByPrompt(chat: ChatRequest, target: Target): Result<UpstreamRequest> {
  const carrier = newTargetCarrier(target);
  const prompt = parsePrompt(chat, carrier);
  if (!prompt.ok) return prompt;
  const { schemas = newStrictSchemas() } = chat;
  return encodePromptFor(prompt.value, { target, carrier, schemas });
}

/** Returns the carrier of a request to a target. */
export function newTargetCarrier(
  { provider, omitTools = [], wire: { fields } }: Pick<Target, "provider" | "omitTools" | "wire">,
): Carrier {
  return newCarrier({ fields, provider, omitTools });
}

/** Returns what is lost of a request that is passed on, as members of the upstream request. */
export function lostFields(paths: readonly string[], target: Target): Carried {
  const carrier = newTargetCarrier(target);
  paths.forEach(carrier.drop);
  return carrier.done();
}

/**
 * Encodes a prompt for a target, with what a named model adds, and with tools and system messages
 * as its upstream takes them.
 */
export function encodePromptFor(prompt: Prompt, encoding: Encoding): Result<UpstreamRequest> {
  const { target: { named }, carrier } = encoding;
  if (named === undefined) return encodeFilled(prompt, encoding);
  const isMessages = encoding.target.wire.name === "messages";
  const filled = presetPrompt(prompt, named.preset, { carrier, isMessages });
  return filled.ok ? encodeFilled(filled.value, encoding) : filled;
}

function encodeFilled(prompt: Prompt, encoding: Encoding): Result<UpstreamRequest> {
  const { target: { wire, provider: { settings } }, carrier } = encoding;
  const taken: Result<BridgedPrompt> = wire.takesCustomTools(settings)
    ? success({ prompt })
    : bridgeCustomTools(prompt, carrier);
  if (!taken.ok) return taken;
  const isFolded = settings.system_messages === "leading";
  const folded = isFolded ? foldSystem(taken.value.prompt, carrier) : taken.value.prompt;
  const encoded = wire.encodePrompt(folded, encoding);
  const { bridged } = taken.value;
  return !encoded.ok || bridged === undefined ? encoded : success({ ...encoded.value, bridged });
}
