import type { Deps } from "./protocol.ts";

/** What a body does next. */
export type BodyStep =
  | { readonly kind: "send"; readonly text: string }
  /** Milliseconds. */
  | { readonly kind: "pause"; readonly ms: number }
  /** The body breaks off as a lost connection does. */
  | { readonly kind: "reset" }
  /** Nothing more comes until the reader leaves. */
  | { readonly kind: "silence" };

const encoder = new TextEncoder();

/** A body that makes one step per read, so a reader that waits stops it; cancelling clears its timer. */
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

/** Waits so many milliseconds, or until the signal fires; no timer is left then. */
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

/** Waits until the signal fires. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
