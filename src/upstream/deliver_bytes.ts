import type { Failure } from "../core/failure/failure.ts";
import type { BytesReply } from "../core/stream/reply.ts";
import { clientGone, failed, type Result, success } from "../core/failure/result.ts";
import type { BodyReader } from "./body.ts";

/**
 * Reads a response body up to its first byte, and returns its pieces for the client. An earlier
 * failure is a failed attempt. `onEnd` is called once, with null when the body is complete.
 */
export async function commitBytes(
  body: BodyReader,
  onEnd: (failure: Failure | null) => Promise<void>,
): Promise<Result<BytesReply["pieces"]>> {
  const first = await body.read();
  if (first.ok) return success(deliverBytes(first.value, body, onEnd));
  await onEnd(first.failure);
  return first;
}

async function* deliverBytes(
  first: Uint8Array | null,
  body: BodyReader,
  onEnd: (failure: Failure | null) => Promise<void>,
): BytesReply["pieces"] & AsyncGenerator<Result<Uint8Array<ArrayBuffer>>, void, void> {
  // If the client disconnects, the consumer returns the generator at its yield, and this failure
  // remains.
  let ending: Failure | null = clientGone().failure;
  try {
    let bytes = first;
    while (bytes !== null) {
      // The next read reuses the buffer of this one.
      yield success(bytes.slice());
      const next = await body.read();
      if (!next.ok) {
        ending = next.failure;
        yield failed(next.failure);
        return;
      }
      bytes = next.value;
    }
    ending = null;
  } finally {
    await onEnd(ending);
  }
}
