import type { Call } from "../gateway/call.ts";

/** Waits; ends early when the call does. */
export function pause({ world, departure }: Pick<Call, "world" | "departure">, ms: number) {
  return new Promise<void>((resolve) => {
    const cancel = world.after(ms, end);
    const stay = departure.onEnd(end);

    function end() {
      cancel();
      stay();
      resolve();
    }
  });
}
