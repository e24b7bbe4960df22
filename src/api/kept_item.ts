import { newId } from "../core/ids.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import type { World } from "../core/world.ts";

/**
 * An item as it is kept and listed: with an id, a message with parts and a type, and with a status
 * where listed items have one (OpenAI API, Conversations). Everything else stays as it was sent.
 */
export function keptItem(item: JsonObject, mint: Pick<World, "uuid">): JsonObject {
  const type = typeOf(item);
  const id = typeof item.id === "string" ? item.id : newId(prefixOf(type), mint);
  switch (type) {
    case "message":
      return { ...item, id, type, status: item.status ?? "completed", content: partsOf(item) };
    case "function_call":
    case "function_call_output":
      return { ...item, id, status: item.status ?? "completed" };
    default:
      return { ...item, id };
  }
}

/** The type of an item: one without a type that has a role is a message; null when it has none. */
export function typeOf({ type, role }: JsonObject): string | null {
  if (typeof type === "string") return type;
  return (type ?? null) === null && role !== undefined ? "message" : null;
}

/** Whether an item stands for another one: by its type, or because it is nothing but an id. */
export function isReference(item: JsonObject): boolean {
  if ((item.type ?? null) !== null) return item.type === "item_reference";
  return item.id !== undefined && Object.keys(item).every((key) => key === "id" || key === "type");
}

function prefixOf(type: string | null): string {
  switch (type) {
    case "message":
      return "msg_";
    case "function_call":
      return "fc_";
    case "function_call_output":
      return "fco_";
    case "reasoning":
      return "rs_";
    default:
      return "item_";
  }
}

function partsOf({ role, content }: JsonObject): JsonValue {
  if (typeof content !== "string") return content ?? [];
  return role === "assistant"
    ? [{ type: "output_text", text: content, annotations: [], logprobs: [] }]
    : [{ type: "input_text", text: content }];
}
