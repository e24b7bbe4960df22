import type { World } from "./world.ts";

/** A new opaque identifier: the prefix and 32 hexadecimal digits. */
export function newId(prefix: string, world: Pick<World, "uuid">): string {
  return prefix + world.uuid().replaceAll("-", "");
}

/** Whether a value can be an id that somebody else gave: text, not empty, without white space around it. */
export function isExactId(id: unknown): id is string {
  return typeof id === "string" && id !== "" && id === id.trim();
}
