import type { JsonObject } from "../../core/json/json.ts";
import { keyText } from "../key_text.ts";

/** Returns the name under which an item is found; empty for an item without an ID. */
export function itemName({ id }: JsonObject): string {
  return typeof id === "string" ? nameOfItem(id) : "";
}

/** Returns the name of items with an ID. */
export function nameOfItem(id: string): string {
  return `=${keyText(id)}`;
}
