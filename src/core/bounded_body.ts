import type { Cancellation } from "./cancellation.ts";
import { concatBytes } from "./concat_bytes.ts";
import { bodySource, type Incoming } from "./world.ts";

/** The bytes of a whole body, or the reason why it is incomplete. */
export type BoundedBody =
  | { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly reason: "too_large" | "stopped" | "broken" };

/**
 * Reads a body to its end. Beyond `maxBytes`, and after a cancellation, the rest of it is
 * cancelled, so that its producer stops too. Never rejects.
 */
export async function readBounded(
  response: Pick<Incoming, "body">,
  cancellation: Cancellation,
  maxBytes: number,
): Promise<BoundedBody> {
  const body = bodySource(response);
  // The runtime's fetch references the signal weakly: an abort alone may not end the body.
  const unsubscribe = cancellation.onCancel(() => void body?.cancel().catch(() => {}));
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const bytes = await body?.read() ?? null;
      if (cancellation.isCancelled) return { ok: false, reason: "stopped" };
      if (bytes === null) return { ok: true, bytes: concatBytes(pieces) };
      size += bytes.length;
      if (size > maxBytes) return { ok: false, reason: "too_large" };
      // The bytes are valid until the next read only.
      pieces.push(bytes.slice());
    }
  } catch {
    return { ok: false, reason: cancellation.isCancelled ? "stopped" : "broken" };
  } finally {
    unsubscribe();
    await body?.cancel().catch(() => {});
  }
}
