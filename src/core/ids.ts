import type { World } from "./world.ts";

/** A new opaque identifier: the prefix and 32 hexadecimal digits. */
export function newId(prefix: string, world: Pick<World, "uuid">): string {
  return prefix + world.uuid().replaceAll("-", "");
}
