import { readBounded } from "../core/bounded_body.ts";
import { Cancellation } from "../core/cancellation.ts";
import { ConnectionError } from "../core/failure/connection_error.ts";
import type { World } from "../core/world.ts";

/** A POST request. */
export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Dependencies and limits of one POST request. */
export interface PostDeps {
  readonly world: Pick<World, "after" | "send">;
  /** Timeout in milliseconds, including the response body. */
  readonly timeoutMs: number;
  /** Cancels the request. */
  readonly cut: Cancellation;
}

/**
 * Result of a POST request; only `failed` is worth a retry. `text` is the response body; null if it
 * is longer than 4 KiB or incomplete.
 */
export type PostResult =
  | { readonly kind: "accepted"; readonly text: string | null }
  | { readonly kind: "refused" | "failed"; readonly reason: string };

/** Maximum length of a response body. */
const MAX_RESPONSE_BYTES = 4 * 1024;

/**
 * Sends one POST request once, without following redirects. The result is `accepted` after a 2xx
 * status, `failed` after a network error, a timeout, 429 or 5xx, and `refused` after any other
 * status.
 */
export async function postOnce(request: PostRequest, deps: PostDeps): Promise<PostResult> {
  const { world, timeoutMs, cut } = deps;
  const { url, headers, body } = request;
  const cancellation = new Cancellation();
  const end = () => cancellation.cancel(null);
  const cancelTimeout = world.after(timeoutMs, end);
  const unsubscribe = cut.onCancel(end);
  try {
    if (cut.isCancelled) return { kind: "failed", reason: "the gateway shuts down" };
    const response = await world.send(url, {
      method: "POST",
      headers: { "user-agent": "switchyard", "accept-encoding": "identity", ...headers },
      body,
      cancellation,
    });
    const read = await readBounded(response, cancellation, MAX_RESPONSE_BYTES);
    const text = read.ok ? new TextDecoder().decode(read.bytes) : null;
    const { status } = response;
    const reason = `status ${status}`;
    if (status === 429 || status >= 500) return { kind: "failed", reason };
    if (status < 200 || status > 299) return { kind: "refused", reason };
    return { kind: "accepted", text };
  } catch (error) {
    const cause = error instanceof ConnectionError ? `: ${error.kind}` : "";
    const reason = cancellation.isCancelled ? "no response in time" : `no connection${cause}`;
    return { kind: "failed", reason };
  } finally {
    cancelTimeout();
    unsubscribe();
  }
}
