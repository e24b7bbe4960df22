import { newId } from "../../core/ids.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { World } from "../../core/world.ts";
import { inputItem } from "./item_shapes.ts";
import { typeOf } from "./item_type.ts";
import { withoutNulls } from "./shape.ts";

/**
 * Returns an item as it is stored and listed (OpenAI API, Conversations): with an id, and with a
 * status if listed items have one. A message gets a type and parts. Known members that are null are
 * removed. All other members are unchanged.
 */
export function toStoredItem(sent: JsonObject, idSource: Pick<World, "uuid">): JsonObject {
  const item = withoutNulls(inputItem, sent);
  const type = typeOf(item);
  const id = typeof item.id === "string" ? item.id : newId(prefixOf(type), idSource);
  switch (type) {
    case "message":
      return { ...item, id, type, status: item.status ?? "completed", content: contentOf(item) };
    case "function_call":
    case "custom_tool_call":
      return { ...item, id, status: item.status ?? "completed" };
    case "function_call_output":
    case "custom_tool_call_output":
      return { ...item, id, status: item.status ?? "completed", output: partsOf(item.output) };
    case "reasoning":
      return { ...item, id, summary: item.summary ?? [] };
    default:
      return { ...item, id };
  }
}

/** Returns an item with a new id. */
export function withNewId(item: JsonObject, idSource: Pick<World, "uuid">): JsonObject {
  return { ...item, id: newId(prefixOf(typeOf(item)), idSource) };
}

function prefixOf(type: string | null): string {
  switch (type) {
    case "message":
      return "msg_";
    case "function_call":
      return "fc_";
    case "function_call_output":
      return "fco_";
    case "custom_tool_call":
      return "ctc_";
    case "custom_tool_call_output":
      return "ctco_";
    case "reasoning":
      return "rs_";
    default:
      return "item_";
  }
}

function contentOf({ role, content }: JsonObject): JsonValue {
  if (typeof content !== "string") return partsOf(content) ?? [];
  return role === "assistant"
    ? [{ type: "output_text", text: content, annotations: [], logprobs: [] }]
    : [{ type: "input_text", text: content }];
}

function partsOf(content: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(content)
    ? content.map((part) => isObject(part) ? partOf(part) : part)
    : content;
}

/** Returns a part with the members that listed parts always have and clients may omit. */
function partOf(part: JsonObject): JsonObject {
  switch (part.type) {
    case "output_text":
      return { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] };
    case "input_image":
      return { ...part, detail: part.detail ?? "auto" };
    default:
      return part;
  }
}
