/** Limits of what the gateway serves at once, named as in the configuration. */
export interface AdmissionLimits {
  readonly max_concurrent_requests: number;
  readonly max_body_memory: number;
}

/** The calls in flight and the bytes of the request bodies that they hold. */
export interface Admission {
  /** Admits a call until `release`; returns false at the limit of concurrent calls. */
  admit(id: string): boolean;
  /**
   * Adds bytes to the request body of an admitted call. Returns false, and adds nothing, beyond the
   * limit of body memory or when the call was released.
   */
  hold(id: string, bytes: number): boolean;
  /** Frees the place and the bytes of a call; a second time, or for an unknown call, nothing. */
  release(id: string): void;
  /** Calls in flight. */
  count(): number;
  /** Bytes of request bodies held. */
  bodyBytes(): number;
}

/** Admission without any calls yet. */
export function newAdmission(limits: AdmissionLimits): Admission {
  const { max_concurrent_requests, max_body_memory } = limits;
  const held = new Map<string, number>();
  let total = 0;

  return {
    admit(id) {
      if (held.size >= max_concurrent_requests) return false;
      held.set(id, 0);
      return true;
    },
    hold(id, bytes) {
      const own = held.get(id);
      if (own === undefined || total + bytes > max_body_memory) return false;
      held.set(id, own + bytes);
      total += bytes;
      return true;
    },
    release(id) {
      total -= held.get(id) ?? 0;
      held.delete(id);
    },
    count: () => held.size,
    bodyBytes: () => total,
  };
}
