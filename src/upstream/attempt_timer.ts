import { Cancellation } from "../core/cancellation.ts";
import type { Fault } from "../core/failure/failure.ts";
import { fault } from "../core/failure/result.ts";
import type { World } from "../core/world.ts";

/** Timeouts of one upstream attempt. */
export interface Timeouts {
  readonly timeoutMs: number;
  /** The timeout ends with the first byte of the body (`ttft`), or with its last one (`total`). */
  readonly mode: "ttft" | "total";
  /** Longest silence between two reads of the body, from its first byte on; null if unlimited. */
  readonly idleMs: number | null;
  /** Called with the first bytes of the body; absent if its time is not needed. */
  readonly onFirstByte?: () => void;
  /**
   * True if the attempt continues for a while after the client has disconnected; absent if it never
   * does.
   */
  readonly lingers?: () => boolean;
}

/** Longest time for which a response is read only for its token counts. */
const MAX_LINGER_MS = 5_000;

/** Cancels one upstream attempt when its call is cancelled or a timeout has passed. */
export type AttemptTimer = ReturnType<typeof newAttemptTimer>;

/**
 * Returns a timer that starts now, before the request is sent. `call` is the cancellation of the
 * call.
 */
export function newAttemptTimer(
  world: Pick<World, "now" | "after">,
  call: Cancellation,
  { timeoutMs, mode, idleMs, onFirstByte, lingers }: Timeouts,
) {
  const cancellation = new Cancellation();
  let hasBytes = false;
  let readSince: number | null = null;
  const began = world.now();
  const end = began + timeoutMs;
  let contentAt = Infinity;
  // One timer serves all timeouts: most responses end before it expires and need no second timer.
  let checkAt = end;
  let cancelCheck = world.after(timeoutMs, check);
  let cancelLinger: (() => void) | null = null;
  const unsubscribe = call.onCancel((reason) => {
    if (call.isClientGone && lingers?.() === true) linger();
    else cancellation.cancel(reason);
  });

  function linger() {
    cancelLinger ??= world.after(MAX_LINGER_MS, stop);
  }

  function stop() {
    cancellation.cancel(call.reason);
  }

  function expire(
    kind: "upstream_timeout" | "upstream_idle",
    message: string,
    details: Pick<Fault, "cause"> = {},
  ) {
    cancellation.cancel(fault(kind, message, details).failure);
  }

  /** True if the timeout still applies: until the first byte, or until the end in `total` mode. */
  function isTimed(): boolean {
    return !hasBytes || mode === "total";
  }

  function check() {
    const now = world.now();
    if (isTimed() && now >= end) {
      return expire(
        "upstream_timeout",
        "The provider did not respond within its configured timeout.",
      );
    }
    if (now >= contentAt) {
      const message = "The provider sent no content within its configured time.";
      return expire("upstream_timeout", message, { cause: "first_content" });
    }
    // Silence counts only while a read is pending: a slow client is not the upstream's fault.
    const silentMs = hasBytes && readSince !== null ? now - readSince : 0;
    if (idleMs !== null && silentMs >= idleMs) {
      return expire("upstream_idle", "The provider was silent for too long within its response.");
    }
    schedule(now, silentMs);
  }

  function schedule(now: number, silentMs: number) {
    cancelCheck();
    const silentAt = idleMs === null ? Infinity : now + idleMs - silentMs;
    checkAt = Math.min(contentAt, isTimed() ? Math.min(end, silentAt) : silentAt);
    if (checkAt < Infinity) cancelCheck = world.after(checkAt - now, check);
  }

  return {
    /**
     * Cancellation of the attempt; its reason is null if the attempt was stopped without a failure.
     */
    cancellation,
    /** A read of the response body has started. */
    readStarted(): void {
      if (idleMs !== null) readSince = world.now();
    },
    /** A read of the response body has returned bytes. */
    bytesReceived(): void {
      readSince = null;
      if (hasBytes) return;
      hasBytes = true;
      onFirstByte?.();
      if (idleMs === null) {
        if (mode === "ttft" && contentAt === Infinity) cancelCheck();
        return;
      }
      const now = world.now();
      if (now + idleMs < checkAt) schedule(now, 0);
    },
    /**
     * The response is a stream, whose first content must arrive within this time of the start of
     * the timer; null for any time.
     */
    awaitContent(limitMs: number | null): void {
      if (limitMs === null) return;
      contentAt = began + limitMs;
      if (contentAt < checkAt) schedule(world.now(), 0);
    },
    /** The first content of the stream has arrived. */
    contentArrived(): void {
      contentAt = Infinity;
    },
    /** Cancels the attempt in 5 s: it continues only for the token counts of the response. */
    linger,
    /** Cancels the attempt now, for the reason of its call. */
    stop,
    /** Stops the timer when the attempt is over. */
    close(): void {
      cancelCheck();
      cancelLinger?.();
      unsubscribe();
    },
  };
}
