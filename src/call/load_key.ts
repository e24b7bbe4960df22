import type { Target } from "../wires/wire.ts";

/** Returns the key of a target's load, which all routes with this provider, protocol and model share. */
export function loadKey(
  { provider, wire, model }: Pick<Target, "provider" | "wire" | "model">,
): string {
  return `${provider.id} ${wire.name} ${model}`;
}
