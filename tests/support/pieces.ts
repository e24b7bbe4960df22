import type { BodySource } from "../../src/core/world.ts";

/** Cuts bytes into reads of at most `size` bytes, which share their memory. */
export function pieces(bytes: Uint8Array, size: number): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
  return parts;
}

/** Cuts a text into pieces of at most `size` UTF-16 units. */
export function textPieces(text: string, size: number): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += size) parts.push(text.slice(at, at + size));
  return parts;
}

/** A byte stream that gives one piece a read, also to a reader that brings its own buffer. */
export function streamOf(parts: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const waiting = parts.filter((part) => part.length > 0);
  let next = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const part = waiting[next++];
      if (part !== undefined) {
        controller.enqueue(part.slice());
        return;
      }
      controller.close();
      // A waiting BYOB read ends only when its request is answered.
      controller.byobRequest?.respond(0);
    },
  });
}

/** A body that is read as that of a connection: a piece a read, all in the memory of one buffer. */
export function connectionBodyOf(parts: readonly Uint8Array[]): BodySource {
  const buffer = new Uint8Array(parts.reduce((most, { length }) => Math.max(most, length), 0));
  const waiting = parts.values();
  return {
    read() {
      const { value } = waiting.next();
      if (value === undefined) return Promise.resolve(null);
      buffer.set(value);
      return Promise.resolve(buffer.subarray(0, value.length));
    },
    cancel: () => Promise.resolve(),
  };
}
