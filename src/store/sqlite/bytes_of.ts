/** Returns the approximate size of plain data in bytes. */
export function bytesOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (value instanceof Uint8Array) return value.byteLength;
  return Object.values(value).reduce((bytes: number, item) => bytes + bytesOf(item), 8);
}
