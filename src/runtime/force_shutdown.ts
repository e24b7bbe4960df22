// Until Deno can end a connection during a read, a write or a TLS handshake.

import { loadSockets, type Sockets } from "./sockets.ts";
import { walk } from "./walk.ts";

/** Runs a task later. Returns a function that cancels it. */
type Later = (task: () => void) => () => void;

type Ends = Pick<Deno.Conn, "localAddr" | "remoteAddr">;

/**
 * Shuts a connection down during a read, a write or a handshake. The caller must still close it.
 */
export interface ForceShutdown {
  (connection: Ends): void;
  /**
   * Completes pending searches immediately and unloads the C library; a later shutdown loads it
   * again.
   */
  close(): void;
}

/**
 * Returns a function that shuts connections down. A closed connection stays open while a write or a
 * TLS handshake waits for the server, and Deno has no API to end those. Best effort, on Linux.
 * Connections of one event loop turn share one search, because a stalled provider may cost many at
 * once. The search visits thousands of descriptors in slices.
 */
export function newForceShutdown(
  open: () => Sockets | null = loadSockets,
  later: Later = inLaterTurn,
): ForceShutdown {
  /** Local addresses by remote address. */
  let remaining = new Map<string, Set<string>>();
  let sockets: Sockets | null = null;
  let isSearching = false;
  let isClosed = false;
  /** The next step of a search, and how to cancel the turn that it waits for. */
  let pending: { readonly step: () => void; readonly cancel: () => void } | null = null;

  function forceShutdown({ localAddr, remoteAddr }: Ends) {
    // The addresses of a TLS connection do not name their transport.
    if (!("hostname" in localAddr && "hostname" in remoteAddr)) return;
    const remote = `${remoteAddr.hostname} ${remoteAddr.port}`;
    const locals = remaining.get(remote) ?? new Set();
    remaining.set(remote, locals.add(`${localAddr.hostname} ${localAddr.port}`));
    if (isSearching) return;
    isSearching = true;
    schedule(search, (task) => {
      queueMicrotask(task);
      return () => {};
    });
  }

  /** Runs a step in a later turn; immediately after `close`, so that the process can end. */
  function schedule(step: () => void, when: Later): void {
    if (isClosed) return step();
    const own = { step, cancel: () => {} };
    pending = own;
    own.cancel = when(() => {
      if (pending !== own) return;
      pending = null;
      step();
    });
  }

  function search(): void {
    sockets ??= open();
    const all = remaining;
    remaining = new Map();
    if (sockets === null) return finish();
    walk(sockets.bound(), shutDownIn(sockets, all), (step) => schedule(step, later), finish);
  }

  function finish(): void {
    if (remaining.size > 0) return search();
    isSearching = false;
    if (isClosed) unload();
  }

  function unload() {
    sockets?.close();
    sockets = null;
  }

  return Object.assign(forceShutdown, {
    close() {
      isClosed = true;
      const waiting = pending;
      pending = null;
      waiting?.cancel();
      waiting?.step();
      if (!isSearching) unload();
    },
  });
}

/** Runs a task in a later turn of the event loop. Returns a function that cancels it. */
function inLaterTurn(task: () => void): () => void {
  const timer = setTimeout(task, 0);
  return () => clearTimeout(timer);
}

/**
 * Returns a visitor of descriptors that shuts matching connections down; it returns false after the
 * last one.
 */
function shutDownIn(sockets: Sockets, remaining: Map<string, Set<string>>) {
  return (descriptor: number) => {
    const remote = sockets.remote(descriptor);
    const locals = remote === null ? undefined : remaining.get(remote);
    if (remote !== null && locals?.delete(sockets.local(descriptor) ?? "") === true) {
      sockets.shutDown(descriptor);
      if (locals.size === 0) remaining.delete(remote);
    }
    return remaining.size > 0;
  };
}
