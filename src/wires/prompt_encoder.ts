import type { ChatField } from "../prompt/chat_fields.ts";
import { newCarrier } from "../prompt/carry.ts";
import { parsePrompt } from "../prompt/chat/parse_prompt.ts";
import type { FieldTable } from "../prompt/field_table.ts";
import { foldSystem } from "../prompt/fold_system.ts";
import { newStrictSchemas } from "./verified/strict_schemas.ts";
import type { Wire } from "./wire.ts";

/**
 * Returns the `encode` of a wire that encodes prompts: it parses the Chat request into one, with system
 * messages where the provider expects them.
 */
export function newPromptEncoder(
  fields: FieldTable<ChatField>,
  encodePrompt: NonNullable<Wire["encodePrompt"]>,
): Wire["encode"] {
  return (chat, target) => {
    const { provider, omitTools } = target;
    const carrier = newCarrier({ fields, provider, ...omitTools !== undefined && { omitTools } });
    const parsed = parsePrompt(chat, carrier);
    if (!parsed.ok) return parsed;
    const isFolded = provider.settings.system_messages === "leading";
    const prompt = isFolded ? foldSystem(parsed.value, carrier) : parsed.value;
    const { schemas = newStrictSchemas() } = chat;
    return encodePrompt(prompt, { target, carrier, schemas });
  };
}
