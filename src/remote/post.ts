import { bodySource } from "../core/body_source.ts";
import { Cancellation } from "../core/cancellation.ts";
import { ConnectionError } from "../core/connection_error.ts";
import type { Incoming, World } from "../core/world.ts";

/** What is sent by one POST. */
export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** What one POST needs beside its request. */
export interface PostDeps {
  readonly world: Pick<World, "after" | "send">;
  /** Milliseconds that it may take, with the answer. */
  readonly timeoutMs: number;
  /** Ends it before its time. */
  readonly cut: Cancellation;
}

/**
 * Whether the other side has taken a POST; `failed` may go better next time. The text of its answer is
 * null when it is longer than 4 KiB, or did not come to its end in time.
 */
export type PostResult =
  | { readonly as: "taken"; readonly text: string | null }
  | { readonly as: "refused" | "failed"; readonly reason: string };

/** Bytes of an answer; more are not read. */
const ANSWER_LIMIT = 4 * 1024;

/**
 * One attempt, which is written once, without following redirects. Taken when the status is one of success, failed after a
 * network error, a timeout, 429 and 5xx, refused after any other status.
 */
export async function postOnce(request: PostRequest, deps: PostDeps): Promise<PostResult> {
  const { world, timeoutMs, cut } = deps;
  const { url, headers, body } = request;
  const cancellation = new Cancellation();
  const end = () => cancellation.cancel(null);
  const cancelTimeout = world.after(timeoutMs, end);
  const unsubscribe = cut.onCancel(end);
  try {
    if (cut.isCancelled) return { as: "failed", reason: "the gateway is ending" };
    const response = await world.send(url, {
      method: "POST",
      headers: { "user-agent": "switchyard", "accept-encoding": "identity", ...headers },
      body,
      cancellation,
    });
    const text = await boundedText(response, cancellation);
    const { status } = response;
    const reason = `status ${status}`;
    if (status === 429 || status >= 500) return { as: "failed", reason };
    if (status < 200 || status > 299) return { as: "refused", reason };
    return { as: "taken", text };
  } catch (error) {
    const cause = error instanceof ConnectionError ? `: ${error.kind}` : "";
    const reason = cancellation.isCancelled ? "no answer in time" : `no connection${cause}`;
    return { as: "failed", reason };
  } finally {
    cancelTimeout();
    unsubscribe();
  }
}

async function boundedText(response: Incoming, cancellation: Cancellation): Promise<string | null> {
  const body = bodySource(response);
  if (body === null) return "";
  // The runtime's fetch holds the signal weakly: an abort alone may stop no body.
  const stop = () => void body.cancel().catch(() => {});
  const unsubscribe = cancellation.onCancel(stop);
  const decoder = new TextDecoder();
  let size = 0;
  let text = "";
  try {
    for (;;) {
      const bytes = await body.read();
      if (cancellation.isCancelled) return null;
      if (bytes === null) return text + decoder.decode();
      size += bytes.length;
      if (size > ANSWER_LIMIT) return null;
      text += decoder.decode(bytes, { stream: true });
    }
  } catch {
    return null;
  } finally {
    unsubscribe();
    await body.cancel().catch(() => {});
  }
}
