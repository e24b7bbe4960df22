import type { World } from "../../core/world.ts";
import type { Admission } from "../../traffic/admission.ts";
import type { UnfinishedMessage } from "../../runtime/peer.ts";
import { MIN_PROGRESS_BYTES } from "../receive_body.ts";

/** Why an unfinished message is given up. */
export type GiveUpReason = "too_large" | "too_slow" | "flood" | "no_memory" | "unknown";

/**
 * Maximum bytes of an unfinished message: 10 MiB, with the frame headers of its fragments and
 * control frames between them.
 */
const MAX_UNFINISHED_BYTES = 12 * 1024 * 1024;

/**
 * Returns the rules of the socket `id`, which bound its unfinished message in size, time and
 * memory. They call `giveUp` for a flood of frames that bring nothing, for a message that is too
 * large, that brings too little within `timeoutMs`, that is the largest when the memory of bodies
 * is full, or that is the largest of the client with most when that of what arrives is; and for a
 * socket of which no message can be measured.
 */
export function newUnfinishedRules(
  id: string,
  client: string,
  admission: Pick<Admission, "holdArriving">,
  world: Pick<World, "now">,
  timeoutMs: number,
  giveUp: (reason: GiveUpReason) => void,
) {
  /** Bytes and time of the last progress; null while no message arrives. */
  let progress: { readonly bytes: number; readonly atMs: number } | null = null;
  const drop = () => giveUp("no_memory");

  function isTooSlow({ bytes, isMessage }: UnfinishedMessage): boolean {
    if (!isMessage) {
      progress = null;
      return false;
    }
    const atMs = world.now();
    if (progress === null || bytes - progress.bytes >= MIN_PROGRESS_BYTES) {
      progress = { bytes, atMs };
    }
    return atMs - progress.atMs >= timeoutMs;
  }

  return {
    /** Applies the rules to what the socket has received since its last whole message. */
    check(unfinished: UnfinishedMessage): void {
      if (unfinished.isFlood === true) return giveUp("flood");
      if (unfinished.isUnknown === true) return giveUp("unknown");
      if (unfinished.bytes > MAX_UNFINISHED_BYTES) return giveUp("too_large");
      if (isTooSlow(unfinished)) return giveUp("too_slow");
      admission.holdArriving(id, client, unfinished.bytes, drop);
    },
    /** Counts no unfinished message any more, because it has arrived or the socket is closed. */
    end(): void {
      progress = null;
      admission.holdArriving(id, client, 0, drop);
    },
  };
}
