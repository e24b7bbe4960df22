/** Returns the approximate size of plain data in bytes. */
export function bytesOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (value instanceof Uint8Array) return value.byteLength;
  let bytes = 8;
  for (const item of Array.isArray(value) ? value : Object.values(value)) bytes += bytesOf(item);
  return bytes;
}

/** Size from which bytes are moved to another thread: smaller ones are copied faster. */
const MIN_MOVED_BYTES = 4 * 1024;

/** Returns the memory of plain data that a message to another thread may move instead of copy. */
export function buffersOf(value: unknown): readonly ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();

  function look(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    if (!(value instanceof Uint8Array)) {
      for (const item of Array.isArray(value) ? value : Object.values(value)) look(item);
    } else if (value.byteLength >= MIN_MOVED_BYTES && value.buffer instanceof ArrayBuffer) {
      found.add(value.buffer);
    }
  }

  look(value);
  return [...found];
}
