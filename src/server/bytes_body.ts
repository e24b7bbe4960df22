import type { Cancellation } from "../core/cancellation.ts";
import type { BytesReply } from "../core/stream/reply.ts";
import type { BodyEnding } from "./stream_body.ts";
import type { Taking } from "./taking.ts";

/** The cancellation of the call, and the task to run at the end of its response. */
export interface BytesBodyOptions {
  readonly cancellation: Cancellation;
  readonly taking?: Taking | null;
  /** Called once, when nothing more is written. */
  onEnd(ending: BodyEnding): void;
}

/**
 * Returns the pieces of a reply as a response body, each one when the client has read the earlier
 * ones. A failure, also a cancellation while the client does not read, fails the body, so that the
 * connection ends without the last chunk and no client takes a part for the whole. Cancelling the
 * body disconnects the client.
 */
export function bytesBody(
  pieces: BytesReply["pieces"],
  { cancellation, taking, onEnd }: BytesBodyOptions,
): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  let isOver = false;
  let isReading = false;
  let unsubscribe = () => {};
  let bytes = 0;

  function end(isWhole: boolean) {
    if (isOver) return;
    isOver = true;
    unsubscribe();
    onEnd({ isWhole, bytes });
  }

  return new ReadableStream<Uint8Array>({
    start(controller) {
      unsubscribe = cancellation.onCancel(() => {
        if (!isReading) void breakOff(controller);
      });
    },
    async pull(controller) {
      taking?.requested();
      isReading = true;
      const next = await iterator.next();
      isReading = false;
      if (isOver) return;
      if (next.done === true) {
        end(true);
        controller.close();
      } else if (next.value.ok) {
        bytes += next.value.value.byteLength;
        controller.enqueue(next.value.value);
        taking?.passed(false);
        if (cancellation.isCancelled) await breakOff(controller);
      } else {
        await breakOff(controller);
      }
    },
    async cancel() {
      unsubscribe();
      cancellation.clientDisconnected();
      await iterator.return?.();
      end(false);
    },
  }, { highWaterMark: 1 });

  /**
   * Reads to the failure, which the call then has, and releases the upstream before the call ends.
   */
  async function breakOff(controller: ReadableStreamDefaultController<Uint8Array>) {
    for (let next = await iterator.next(); next.done !== true;) next = await iterator.next();
    end(false);
    controller.error(new Error("the response broke off"));
  }
}
