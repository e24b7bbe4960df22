import type { Failover } from "../wires/wire.ts";

/** A model with what its route says of it. */
export interface SizedModel {
  /** Null if neither the file nor the request names one. */
  readonly model: string | null;
  readonly failover?: Failover;
}

/**
 * True if a target may hold a prompt that was too long for another one: its known size is larger,
 * or a size is not known and the model is another one.
 */
export function mayHoldMore(target: SizedModel, refusing: SizedModel): boolean {
  const size = target.failover?.contextSize ?? null;
  const refused = refusing.failover?.contextSize ?? null;
  return size === null || refused === null ? target.model !== refusing.model : size > refused;
}
