/** Returns the approximate size of plain data in bytes. */
export function bytesOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (value instanceof Uint8Array) return value.byteLength;
  let bytes = 8;
  for (const item of Array.isArray(value) ? value : Object.values(value)) bytes += bytesOf(item);
  return bytes;
}
