/** A body as text, or why it is not whole. */
export type RemoteBody =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: "too_large" | "stopped" | "broken" };

/**
 * Reads a body to its end. One of more than `limit` bytes, or whose reader the signal stops, is
 * cancelled, so that whoever writes it stops too.
 */
export async function readRemoteBody(
  { body }: Response,
  signal: AbortSignal,
  limit: number,
): Promise<RemoteBody> {
  if (signal.aborted) {
    await body?.cancel();
    return { ok: false, reason: "stopped" };
  }
  if (body === null) return { ok: true, text: "" };
  const reader = body.getReader();
  const stop = () => void cancelled(reader);
  signal.addEventListener("abort", stop);
  try {
    return await collected(reader, signal, limit);
  } catch {
    return { ok: false, reason: signal.aborted ? "stopped" : "broken" };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function collected(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
  limit: number,
): Promise<RemoteBody> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  let size = 0;
  for (;;) {
    const { value } = await reader.read();
    if (signal.aborted) return { ok: false, reason: "stopped" };
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
    // A body that already broke cannot be cancelled, and need not be.
  }
}
