import type { World } from "../core/world.ts";
import { untilNextSecond } from "./feed.ts";
import type { Snapshot } from "./snapshot.ts";
import { type Cursor, cursorAfter, NOTHING_READ } from "./take_snapshot.ts";

/** Maximum number of listeners to the stream of snapshots. */
export const MAX_LISTENERS = 16;

/** Time after which a listener that takes nothing loses its place. */
export const MAX_UNREAD_MS = 30_000;

/** Streams of snapshots, one a second. */
export interface Events {
  /**
   * Returns a stream of server-sent events; null if there are too many. `abort` ends the connection
   * of a listener that takes nothing, whose socket would stay open with what it has not read.
   */
  open(abort?: () => void): ReadableStream<Uint8Array> | null;
  /** Sends a snapshot at once. */
  sendNow(): void;
  /** Number of open streams. */
  readonly count: number;
  /** Ends all streams. */
  close(): void;
}

interface Listener {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly abort: () => void;
  cursor: Cursor;
  /** Monotonic time since when it has taken nothing; null while it reads. */
  unreadSinceMs: number | null;
}

/**
 * Returns the streams of snapshots. `take` makes the snapshot for a reader, `refresh` reads what
 * comes from the store. A listener that has not read its last snapshot is skipped, and gets what it
 * missed with the next one, so that nothing waits for it. If it takes nothing for too long, it
 * loses its place: its client may be gone without a word. `onBug` receives what a snapshot throws;
 * the streams continue.
 */
export function newEvents(
  world: Pick<World, "after" | "now" | "wall">,
  take: (cursor: Cursor) => Snapshot,
  refresh: () => Promise<void>,
  onBug: (error: unknown) => void,
): Events {
  const listeners = new Set<Listener>();
  const encoder = new TextEncoder();
  let cancel: (() => void) | null = null;
  let isClosed = false;

  async function tick() {
    cancel?.();
    cancel = null;
    try {
      await refresh();
      sendAll();
    } catch (error) {
      onBug(error);
    }
    schedule();
  }

  function sendAll() {
    // Listeners that have read the same get the same bytes.
    const made = new Map<string, Made>();
    for (const listener of listeners) {
      if ((listener.controller.desiredSize ?? 0) > 0) send(listener, made);
      else dropUnread(listener);
    }
  }

  function dropUnread(listener: Listener) {
    listener.unreadSinceMs ??= world.now();
    if (world.now() - listener.unreadSinceMs < MAX_UNREAD_MS) return;
    listeners.delete(listener);
    listener.controller.error(new Error("The listener takes no snapshots."));
    listener.abort();
  }

  function send(listener: Listener, made: Map<string, Made>) {
    const { second, finished } = listener.cursor;
    const name = `${second} ${finished}`;
    const known = made.get(name) ?? make(listener.cursor);
    made.set(name, known);
    listener.cursor = known.next;
    listener.unreadSinceMs = null;
    listener.controller.enqueue(known.bytes);
  }

  function make(cursor: Cursor): Made {
    const snapshot = take(cursor);
    const bytes = encoder.encode(`data: ${JSON.stringify(snapshot)}\n\n`);
    return { bytes, next: cursorAfter(snapshot) };
  }

  function schedule() {
    if (isClosed || listeners.size === 0 || cancel !== null) return;
    cancel = world.after(untilNextSecond(world), () => void tick());
  }

  return {
    open(abort = () => {}) {
      if (isClosed || listeners.size >= MAX_LISTENERS) return null;
      let listener: Listener | null = null;
      return new ReadableStream<Uint8Array>({
        start(controller) {
          listener = { controller, abort, cursor: NOTHING_READ, unreadSinceMs: null };
          // Added only after its first snapshot, so that one that fails takes no place.
          send(listener, new Map());
          listeners.add(listener);
          schedule();
        },
        cancel() {
          if (listener !== null) listeners.delete(listener);
          if (listeners.size > 0) return;
          cancel?.();
          cancel = null;
        },
      }, { highWaterMark: 2 });
    },
    sendNow() {
      if (listeners.size > 0) void tick();
    },
    get count() {
      return listeners.size;
    },
    close() {
      isClosed = true;
      cancel?.();
      for (const { controller } of listeners) controller.close();
      listeners.clear();
    },
  };
}

interface Made {
  readonly bytes: Uint8Array;
  readonly next: Cursor;
}
