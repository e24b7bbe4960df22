import type { Call } from "../call/call.ts";
import type { Peer } from "../runtime/peer.ts";
import { watchSilence } from "./silence.ts";

/** Bytes of a response in the runtime, which its client may not have taken. */
export interface Taking {
  /**
   * Called when a piece was passed to the runtime, and with true when the response has no further
   * one.
   */
  passed(isLast: boolean): void;
  /**
   * Called when the runtime requests a piece, because the client has taken nearly all earlier ones.
   */
  requested(): void;
}

/**
 * Disconnects a client that lets a piece of a response wait in the runtime for
 * `server.write_timeout`, where the system does not see it: over HTTP/2 it waits there until the
 * client opens the window of its stream. Returns null for a request without a connection.
 */
export function watchTaking(
  { world, cancellation, generation }: Call,
  { completed, abort, isShared, waitsInSystem }: Peer,
): Taking | null {
  if (completed === undefined) return null;
  let waitsSince: number | null = null;
  let isWhole = false;
  let isWatched = false;

  function watch() {
    isWatched = true;
    const unwatch = watchSilence({
      world,
      silenceMs: generation.config.server.write_timeout,
      lastWrite: () => waitsSince ?? world.now(),
      onSilence() {
        // What the system cannot send is judged by its rate. It says nothing of a stream among
        // others.
        if (isShared?.() === false && waitsInSystem?.() === true) return;
        // The runtime does not see the end of a body while the window of its stream is closed.
        abort?.();
        if (!isWhole) cancellation.clientDisconnected();
      },
    });
    completed?.then(unwatch, unwatch);
  }

  return {
    passed(isLast) {
      isWhole ||= isLast;
      waitsSince ??= world.now();
      if (!isWatched) watch();
    },
    requested: () => void (waitsSince = null),
  };
}
