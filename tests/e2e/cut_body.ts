/** How a body that was cut off ends: like a whole one, or with an error. */
export type Ending = "clean" | "reset";

/** Both of them. */
export const ENDINGS: readonly Ending[] = ["clean", "reset"];

/** Bytes in pieces, then an orderly end or an error, one step a read. */
export function bodyOf(
  parts: readonly Uint8Array<ArrayBuffer>[],
  ending: Ending,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const waiting = [...parts];
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const part = waiting.shift();
      if (part !== undefined) return controller.enqueue(part.slice());
      if (ending === "reset") return controller.error(new TypeError("connection reset"));
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}
