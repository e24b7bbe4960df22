import type { Cancellation } from "../core/cancellation.ts";
import type { BytesReply } from "../core/reply.ts";
import type { BodyEnding } from "./stream_body.ts";

/** The cancellation of the call, and the task to run at the end of its response. */
export interface BytesBodyOptions {
  readonly cancellation: Cancellation;
  /** Called once, when nothing more is written. */
  onEnd(ending: BodyEnding): void;
}

/**
 * Returns the pieces of a reply as a response body, each one when the client has read the earlier ones.
 * A failure fails the body, so that the connection ends without the last chunk and no client takes a
 * part for the whole. Cancelling the body disconnects the client.
 */
export function bytesBody(
  pieces: BytesReply["pieces"],
  { cancellation, onEnd }: BytesBodyOptions,
): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  let isOver = false;
  let bytes = 0;

  function end(isWhole: boolean) {
    if (isOver) return;
    isOver = true;
    onEnd({ isWhole, bytes });
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) {
        end(true);
        controller.close();
      } else if (next.value.ok) {
        bytes += next.value.value.byteLength;
        controller.enqueue(next.value.value);
      } else {
        // The generator releases the upstream before the call ends.
        await iterator.return?.();
        end(false);
        controller.error(new Error("the response broke off"));
      }
    },
    async cancel() {
      cancellation.clientDisconnected();
      await iterator.return?.();
      end(false);
    },
  }, { highWaterMark: 1 });
}
