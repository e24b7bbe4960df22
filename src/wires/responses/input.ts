import { legacyResultId } from "../call_ids.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type { Message, ToolResult } from "../../prompt/prompt.ts";
import { assistantItems } from "./assistant.ts";
import { encodeCallId } from "./call_id.ts";
import { inputContent } from "./content.ts";
import type { SectionInput } from "./controls.ts";

type Items = Result<readonly JsonObject[]>;

/**
 * Returns `input`: the messages as items, in their order. A Refusal names the field that cannot be
 * translated.
 */
export function input(asked: SectionInput): Result<JsonObject> {
  const items: JsonObject[] = [];
  for (const [index, message] of asked.prompt.messages.entries()) {
    const made = encodeMessage(message, index, asked);
    if (!made.ok) return made;
    pushAll(items, made.value);
  }
  return success({ input: items });
}

function encodeMessage(message: Message, index: number, asked: SectionInput): Items {
  switch (message.kind) {
    case "instruction": {
      const { normalize_developer_role: isNormalized } = asked.target.provider.settings;
      return plainItem(message, isNormalized ? "system" : message.role, asked.carrier);
    }
    case "user":
      return plainItem(message, "user", asked.carrier);
    case "assistant":
      return assistantItems(message, index, asked);
    case "result":
      return resultItem(message, asked.carrier);
  }
}

function plainItem(
  { content }: Exclude<Message, { readonly kind: "assistant" }>,
  role: string,
  carrier: Carrier,
): Items {
  const encoded = inputContent(content, carrier);
  return encoded.ok ? success([{ type: "message", role, content: encoded.value }]) : encoded;
}

function resultItem(
  result: ToolResult,
  carrier: Carrier,
): Items {
  const { callId: given, call, content } = result;
  const id = given === null ? legacyResultId(result, carrier) : encodeCallId(given, carrier);
  if (!id.ok) return id;
  const output = inputContent(content, carrier);
  if (!output.ok) return output;
  const type = call?.kind === "custom" ? "custom_tool_call_output" : "function_call_output";
  return success([{ type, call_id: id.value, output: output.value }]);
}
