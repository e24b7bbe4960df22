import type { JsonObject } from "../../core/json/json.ts";

/**
 * Returns the type of an item; null if unknown. An item with a role and without a type is a
 * message.
 */
export function typeOf({ type, role }: JsonObject): string | null {
  if (typeof type === "string") return type;
  return (type ?? null) === null && role !== undefined ? "message" : null;
}

/** True if an item is a reference to another item: by its type, or because it holds only an id. */
export function isReference(item: JsonObject): boolean {
  if ((item.type ?? null) !== null) return item.type === "item_reference";
  return item.id !== undefined && Object.keys(item).every((key) => key === "id" || key === "type");
}
