import type { Deps } from "./protocol.ts";

/** One step of a response body. */
export type BodyStep =
  | { readonly kind: "send"; readonly text: string }
  /** Waits for `ms` milliseconds. */
  | { readonly kind: "pause"; readonly ms: number }
  /** Fails the body, as a lost connection does. */
  | { readonly kind: "reset" }
  /** Sends nothing more until the reader cancels. */
  | { readonly kind: "silence" };

const encoder = new TextEncoder();

/**
 * Returns a response body that makes one step per read, so that a slow reader holds it back.
 * Cancelling it clears its timer.
 */
export function newBodyStream(steps: Iterator<BodyStep>, deps: Deps): ReadableStream<Uint8Array> {
  const gone = new AbortController();

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (!gone.signal.aborted) {
      const next = steps.next();
      if (next.done) return controller.close();
      switch (next.value.kind) {
        case "send":
          return controller.enqueue(encoder.encode(next.value.text));
        case "pause":
          await wait(next.value.ms, deps, gone.signal);
          break;
        case "reset":
          return controller.error(new Error("The simulator breaks off here."));
        case "silence":
          await untilAborted(gone.signal);
      }
    }
  }

  return new ReadableStream({ pull, cancel: () => gone.abort() }, { highWaterMark: 0 });
}

/** Waits for `ms` milliseconds or until the signal aborts, and leaves no timer. */
export function wait(ms: number, deps: Deps, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = deps.after(ms, end);
    signal.addEventListener("abort", end);

    function end() {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    }
  });
}

/** Waits until the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
