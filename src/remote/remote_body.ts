import type { Cancellation } from "../core/cancellation.ts";

/** A whole body as text, or the reason why it is incomplete. */
export type RemoteBody =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: "too_large" | "stopped" | "broken" };

/**
 * Reads a response body to its end. Beyond `limit` bytes or after a cancellation the body is
 * cancelled, so that its producer stops too.
 */
export async function readRemoteBody(
  { body }: Response,
  cancellation: Cancellation,
  limit: number,
): Promise<RemoteBody> {
  if (cancellation.isCancelled) {
    await body?.cancel();
    return { ok: false, reason: "stopped" };
  }
  if (body === null) return { ok: true, text: "" };
  const reader = body.getReader();
  const stop = () => void cancelled(reader);
  const unsubscribe = cancellation.onCancel(stop);
  try {
    return await readText(reader, cancellation, limit);
  } catch {
    return { ok: false, reason: cancellation.isCancelled ? "stopped" : "broken" };
  } finally {
    unsubscribe();
  }
}

async function readText(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  cancellation: Cancellation,
  limit: number,
): Promise<RemoteBody> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  let size = 0;
  for (;;) {
    const { value } = await reader.read();
    if (cancellation.isCancelled) return { ok: false, reason: "stopped" };
    if (value === undefined) return { ok: true, text: text + decoder.decode() };
    size += value.length;
    if (size > limit) {
      await cancelled(reader);
      return { ok: false, reason: "too_large" };
    }
    text += decoder.decode(value, { stream: true });
  }
}

async function cancelled(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    await reader.cancel();
  } catch {
    // A body that already failed cannot be cancelled.
  }
}
