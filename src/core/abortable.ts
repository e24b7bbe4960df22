import type { Outgoing } from "./world.ts";

/** Returns the part of a request that lets a signal abort it. */
export function abortedBy(signal: AbortSignal): Pick<Outgoing, "signal" | "onAbort"> {
  let latest = () => {};
  signal.addEventListener("abort", () => latest(), { once: true });
  return {
    signal: () => signal,
    onAbort(task) {
      latest = task;
      if (signal.aborted) task();
    },
  };
}
