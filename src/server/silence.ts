import type { World } from "../core/world.ts";

/** A stream that is watched for silence. */
export interface WatchedStream {
  readonly world: Pick<World, "now" | "after">;
  readonly silenceMs: number;
  /** Returns the time of the last write, in milliseconds. */
  lastWrite(): number;
  /** Called whenever nothing was written for `silenceMs`. */
  onSilence(): void;
}

/** Watches a stream for silence until the returned function is called. */
export function watchSilence(
  { world, silenceMs, lastWrite, onSilence }: WatchedStream,
): () => void {
  let cancel = () => {};

  function wait(waitMs: number): void {
    cancel = world.after(waitMs, () => {
      const leftMs = silenceMs - (world.now() - lastWrite());
      if (leftMs <= 0) onSilence();
      wait(leftMs > 0 ? leftMs : silenceMs);
    });
  }

  wait(silenceMs);
  return () => cancel();
}
