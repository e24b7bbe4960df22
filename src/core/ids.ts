import type { World } from "./world.ts";

/** Returns a new opaque ID: the prefix and 32 hexadecimal digits. */
export function newId(prefix: string, world: Pick<World, "uuid">): string {
  return prefix + world.uuid().replaceAll("-", "");
}

/**
 * True if the value can be an ID from another system: non-empty text without surrounding white
 * space.
 */
export function isExactId(id: unknown): id is string {
  return typeof id === "string" && id !== "" && id === id.trim();
}
