import type { ChatField } from "../prompt/chat_fields.ts";
import { newCarrier } from "../prompt/carry.ts";
import { parsePrompt } from "../prompt/chat/parse_prompt.ts";
import type { FieldTable } from "../prompt/field_table.ts";
import { newStrictSchemas } from "./verified/strict_schemas.ts";
import type { Wire } from "./wire.ts";

/** Returns the `encode` of a wire that encodes prompts: it parses the Chat request into one. */
export function newPromptEncoder(
  fields: FieldTable<ChatField>,
  encodePrompt: NonNullable<Wire["encodePrompt"]>,
): Wire["encode"] {
  return (chat, target) => {
    const { provider, omitTools } = target;
    const carrier = newCarrier({ fields, provider, ...omitTools !== undefined && { omitTools } });
    const prompt = parsePrompt(chat, carrier);
    if (!prompt.ok) return prompt;
    const { schemas = newStrictSchemas() } = chat;
    return encodePrompt(prompt.value, { target, carrier, schemas });
  };
}
