/**
 * Returns the start of all keys of a store. The prefix is their hash tag, so that the nodes of a
 * cluster have them in one slot and a script may use several.
 */
export function keyStart(prefix: string): string {
  return `{${prefix}}:`;
}

/**
 * Returns the start of the keys of records. Their second part is the version of their form:
 * gateways with another one use the same quotas, and ignore each other's records.
 */
export function recordStart(prefix: string): string {
  return `${keyStart(prefix)}2:`;
}
