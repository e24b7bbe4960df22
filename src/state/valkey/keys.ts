/**
 * Returns the start of all keys of a store. The prefix is their hash tag, so that the nodes of a
 * cluster have them in one slot and a script may use several.
 */
export function keyStart(prefix: string): string {
  return `{${prefix}}:`;
}
