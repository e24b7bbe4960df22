import type { JsonObject } from "../core/json/json.ts";

/** The type of an item: one without a type that has a role is a message; null when it has none. */
export function typeOf({ type, role }: JsonObject): string | null {
  if (typeof type === "string") return type;
  return (type ?? null) === null && role !== undefined ? "message" : null;
}

/** True if an item only refers to another one: by its type, or because it is nothing but an id. */
export function isReference(item: JsonObject): boolean {
  if ((item.type ?? null) !== null) return item.type === "item_reference";
  return item.id !== undefined && Object.keys(item).every((key) => key === "id" || key === "type");
}
