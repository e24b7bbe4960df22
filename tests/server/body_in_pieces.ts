import { assert } from "../support/assert.ts";

/** Returns a body in chunks of these sizes, and the buffers into which it was read. */
export function bodyInPieces(pieces: readonly number[]) {
  const buffers: number[] = [];
  const coming = [...pieces];
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      const { byobRequest } = controller;
      const view = byobRequest?.view ?? null;
      assert(byobRequest !== null && view !== null);
      buffers.push(view.buffer.byteLength);
      const wanted = coming.shift() ?? 0;
      const given = Math.min(wanted, view.byteLength);
      if (given < wanted) coming.unshift(wanted - given);
      new Uint8Array(view.buffer, view.byteOffset, given).fill(120);
      if (given === 0) controller.close();
      byobRequest.respond(given);
    },
  });
  return { body, buffers };
}
