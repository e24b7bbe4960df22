/** Limits of concurrent requests and of the memory of bodies, named as in the configuration. */
export interface AdmissionLimits {
  readonly max_concurrent_requests: number;
  readonly max_body_memory: number;
  readonly max_response_memory: number;
}

/** Counts of the calls in flight and of the bytes of their bodies. */
export interface Admission {
  /** Admits a call until `release`; returns false at the limit of concurrent calls. */
  admit(id: string): boolean;
  /**
   * Adds bytes to the request body of an admitted call. Returns false, and adds nothing, above the
   * limit of body memory or if the call was released.
   */
  hold(id: string, bytes: number): boolean;
  /** Sets the bytes of the response of a call, admitted or not, until `release`. Never refuses. */
  holdResponse(id: string, bytes: number): void;
  /** Calls `free` once when an admitted call is released. */
  onRelease(id: string, free: () => void): void;
  /**
   * Releases the slot and the bytes of a call. No effect the second time, or for an unknown call.
   */
  release(id: string): void;
  /** Returns the number of calls in flight. */
  count(): number;
  /** Returns the total bytes of request bodies in memory. */
  bodyBytes(): number;
  /** Returns the total bytes of whole responses in memory. */
  responseBytes(): number;
  /** True if the responses in memory have reached their limit. */
  isResponseMemoryFull(): boolean;
}

/** Returns an admission without calls. */
export function newAdmission(limits: AdmissionLimits): Admission {
  const { max_concurrent_requests, max_body_memory, max_response_memory } = limits;
  const held = new Map<string, number>();
  const memory = new Map<string, () => void>();
  const responses = new Map<string, number>();
  let total = 0;
  let responseTotal = 0;

  function holdResponse(id: string, bytes: number) {
    responseTotal += bytes - (responses.get(id) ?? 0);
    if (bytes > 0) responses.set(id, bytes);
    else responses.delete(id);
  }

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
    holdResponse,
    onRelease(id, free) {
      if (held.has(id)) memory.set(id, free);
    },
    release(id) {
      total -= held.get(id) ?? 0;
      held.delete(id);
      if (responses.size > 0) holdResponse(id, 0);
      if (memory.size === 0) return;
      memory.get(id)?.();
      memory.delete(id);
    },
    count: () => held.size,
    bodyBytes: () => total,
    responseBytes: () => responseTotal,
    isResponseMemoryFull: () => responseTotal >= max_response_memory,
  };
}
