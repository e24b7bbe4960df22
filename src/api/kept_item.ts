import { newId } from "../core/ids.ts";
import { isObject, type JsonObject, type JsonValue } from "../core/json.ts";
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
      return { ...item, id, type, status: item.status ?? "completed", content: contentOf(item) };
    case "function_call":
      return { ...item, id, status: item.status ?? "completed" };
    case "function_call_output":
      return { ...item, id, status: item.status ?? "completed", output: partsOf(item.output) };
    case "reasoning":
      return { ...given(item, ["content"]), id, summary: item.summary ?? [] };
    default:
      return { ...item, id };
  }
}

/** Returns an item under a new id. */
export function withNewId(item: JsonObject, mint: Pick<World, "uuid">): JsonObject {
  return { ...item, id: newId(prefixOf(typeOf(item)), mint) };
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

/** A part with the members that listed parts always have; clients need not send them. */
function partOf(part: JsonObject): JsonObject {
  switch (part.type) {
    case "output_text":
      return { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] };
    case "input_image":
      return { ...part, detail: part.detail ?? "auto" };
    case "input_file":
      return given(part, FILE_MEMBERS);
    default:
      return part;
  }
}

const FILE_MEMBERS = ["file_id", "filename", "file_data", "file_url", "detail"] as const;

/** The value without those of the members that are null: as if they had not been sent. */
function given(value: JsonObject, members: readonly string[]): JsonObject {
  const kept = Object.entries(value)
    .filter(([key, member]) => member !== null || !members.includes(key));
  return Object.fromEntries(kept);
}
