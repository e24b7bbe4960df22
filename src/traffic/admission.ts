import type { OverloadReason } from "../data/overload_reason.ts";
import { newScrapes, type Scrape } from "./scrapes.ts";

/** Limits of concurrent requests and of the memory of bodies, named as in the configuration. */
export interface AdmissionLimits {
  readonly max_concurrent_requests: number;
  readonly max_body_memory: number;
  readonly max_response_memory: number;
}

/** Counts of the calls in flight, of the bytes of their bodies, and of what sockets hold. */
export interface Admission {
  /** Admits a call until `release`; returns false at the limit of concurrent calls. */
  admit(id: string): boolean;
  /**
   * Adds bytes to the request body of an admitted call; above the limit of body memory the largest
   * holdings of sockets are dropped for it. Returns null, or adds nothing and returns the limit: of
   * body memory if that is not enough or the call was released, or the heap.
   */
  hold(id: string, bytes: number): OverloadReason | null;
  /**
   * True while the heap is nearly full and bodies have more than `MAX_SMALL_PART`, also after the
   * holdings of sockets are dropped for them.
   */
  isHeapFull(): boolean;
  /**
   * Sets the bytes of what a socket holds, its unfinished message or its dialogue, which are in
   * memory already; 0 for none. Above the limit of body memory the largest holding is dropped: its
   * bytes count no more, and its `drop` is called.
   */
  holdDroppable(holder: string, bytes: number, drop: () => void): void;
  /**
   * Sets the bytes of a message of a client that arrives, like `holdDroppable`; above 64 MiB of all
   * clients the largest of the client that has most is dropped too.
   */
  holdArriving(holder: string, client: string, bytes: number, drop: () => void): void;
  /**
   * Sets the bytes of a response that has arrived, of a call that is admitted or not, until
   * `release`. Never refuses.
   */
  holdResponse(id: string, bytes: number): void;
  /**
   * Sets the bytes of what grows while it is read or waits to be sent, until `release` of the same
   * holder; 0 for none. Above the limit of response memory the largest such holding is dropped,
   * unless it has no more than the equal part of a call, or all others have less than half of the
   * limit: its bytes count no more, and its `drop` is called.
   */
  holdGrowing(holder: string, bytes: number, drop: () => void): void;
  /**
   * Admits a response of metrics until `release`, apart from all calls. Returns false if its client
   * has not taken as many as `newScrapes` permits; of all together older ones are ended for it.
   */
  admitScrape(scrape: Scrape): boolean;
  /**
   * Registers the body of an admitted call, which arrives until the returned function is called.
   * `end` cancels its call.
   */
  arrives(id: string, client: string, end: () => void): () => void;
  /**
   * Ends the call whose body has arrived for longest, among those of a client with more than half
   * of all places, and releases its slot. Returns false if no client but `newcomer` has more.
   */
  endArriving(newcomer: string): boolean;
  /** Calls `free` once when the body of an admitted call is freed. */
  onRelease(id: string, free: () => void): void;
  /** Frees the bytes of the request body of a call, which keeps its slot. */
  freeBody(id: string): void;
  /**
   * Releases the slot and the bytes of a call. No effect the second time, or for an unknown call.
   */
  release(id: string): void;
  /** Returns the bytes of the request body of an admitted call. */
  bodyBytesOf(id: string): number;
  /** Returns the number of calls in flight. */
  count(): number;
  /** Returns the number of calls so far that found all places taken. */
  refused(): number;
  /** Returns the total bytes of request bodies and holdings of sockets in memory. */
  bodyBytes(): number;
  /** Returns the total bytes of responses in memory. */
  responseBytes(): number;
  /** True if the responses in memory have reached their limit. */
  isResponseMemoryFull(): boolean;
}

/**
 * Largest response that is passed to the runtime in one piece and counts as taken then: as much as
 * a connection costs anyway. Larger ones are passed in pieces as the client takes them.
 */
export const MAX_SMALL_RESPONSE_BYTES = 16 * 1024;

/** Bytes of a response that are never dropped for others: about what its connection costs. */
export const MIN_COUNTED_BYTES = 64 * 1024;

/**
 * Largest response that may exceed the limit of response memory by itself: more than any response
 * may have.
 */
const MAX_SINGLE_BYTES = 128 * 1024 * 1024;

/**
 * Bytes of messages that may arrive together. Those that become whole in the same turn of the event
 * loop are made texts in one piece. Measured: 27 of 10 MB kept it for 200 to 400 ms.
 */
const MAX_ARRIVING_BYTES = 64 * 1024 * 1024;

/** Bytes of a holder, and the function that drops them; null if they may not be dropped. */
interface Holding {
  readonly bytes: number;
  readonly drop: (() => void) | null;
}

/** A holding of a socket, and the client of a message that arrives; null for anything else. */
interface SocketHolding extends Holding {
  readonly drop: () => void;
  readonly arrivingFrom: string | null;
}

/**
 * Part of the body memory up to which bodies are held whatever the heap has: they do not fill it,
 * and what is left of others is garbage then, which goes sooner the more calls are served.
 */
const MAX_SMALL_PART = 1 / 16;

/**
 * Returns an admission without calls. No bytes are added while `isHeapFull`: what a body takes as
 * values is estimated, and an estimate may be wrong.
 */
export function newAdmission(
  limits: AdmissionLimits,
  isHeapFull: () => boolean = () => false,
): Admission {
  const { max_concurrent_requests, max_body_memory, max_response_memory } = limits;
  const held = new Map<string, number>();
  const memory = new Map<string, () => void>();
  const holdings = new Map<string, SocketHolding>();
  const responses = new Map<string, Holding>();
  /** The ends of the calls whose bodies arrive, for each client the oldest first. */
  const bodies = new Map<string, Map<string, () => void>>();
  const scrapes = newScrapes(max_response_memory);
  /** With the equal part of all calls, those below it cannot fill the memory a second time. */
  const equalPart = Math.max(MIN_COUNTED_BYTES, max_response_memory / max_concurrent_requests);
  const maxSmallBytes = max_body_memory * MAX_SMALL_PART;
  let total = 0;
  /** Bytes of all holdings, which are a part of the total. */
  let droppable = 0;
  /** Bytes of messages that arrive, which are a part of the holdings. */
  let arriving = 0;
  let responseTotal = 0;
  let refused = 0;

  function setHolding(holder: string, holding: SocketHolding) {
    const change = holding.bytes - (holdings.get(holder)?.bytes ?? 0);
    total += change;
    droppable += change;
    if (holding.arrivingFrom !== null) arriving += change;
    if (holding.bytes === 0) holdings.delete(holder);
    else holdings.set(holder, holding);
  }

  /** Drops holdings, the largest first, until this many bytes more are within a limit. */
  function makeRoom(bytes: number, limit: number) {
    if (total - droppable + bytes > limit) return;
    while (total + bytes > limit) dropLargest();
  }

  function dropLargest(among: (holding: SocketHolding) => boolean = () => true) {
    // Each pass ends a socket or its dialogue, which cost more than a look at each of them.
    const [holder, largest] = holdings.entries().filter(([, one]) => among(one))
      .reduce((one, other) => other[1].bytes > one[1].bytes ? other : one);
    setHolding(holder, { ...largest, bytes: 0 });
    largest.drop();
  }

  /** Returns the client with the most bytes of messages that arrive. */
  function busiestClient(): string {
    const sums = new Map<string, number>();
    for (const { arrivingFrom, bytes } of holdings.values()) {
      if (arrivingFrom !== null) sums.set(arrivingFrom, (sums.get(arrivingFrom) ?? 0) + bytes);
    }
    return sums.entries().reduce((one, other) => other[1] > one[1] ? other : one)[0];
  }

  function holdDroppable(holder: string, holding: SocketHolding) {
    setHolding(holder, holding);
    // Bodies alone never exceed the limit, so that there is one to drop.
    while (total > max_body_memory) dropLargest();
  }

  function setResponse(holder: string, bytes: number, drop: Holding["drop"]) {
    responseTotal += bytes - (responses.get(holder)?.bytes ?? 0);
    if (bytes > 0) responses.set(holder, { bytes, drop });
    else responses.delete(holder);
  }

  function holdResponse(holder: string, bytes: number, drop: Holding["drop"]) {
    setResponse(holder, bytes, drop);
    while (responseTotal > max_response_memory && dropLargestResponse());
  }

  /** Drops the largest growing response; returns false if none has more than its equal part. */
  function dropLargestResponse(): boolean {
    let largest: string | null = null;
    let bytes = equalPart;
    // At most one entry for each call in flight and each socket, looked at once for each 64 KiB
    // that arrive.
    for (const [holder, holding] of responses) {
      if (holding.drop === null || holding.bytes <= bytes) continue;
      largest = holder;
      bytes = holding.bytes;
    }
    const drop = largest === null ? null : responses.get(largest)?.drop ?? null;
    if (largest === null || drop === null) return false;
    // A limit that is small, such as that of one of many workers, must not refuse a response that
    // is large.
    const isSingle = responseTotal - bytes <= max_response_memory / 2 && bytes <= MAX_SINGLE_BYTES;
    if (isSingle) return false;
    setResponse(largest, 0, null);
    drop();
    return true;
  }

  /**
   * True while the heap is nearly full and bodies have more than their small part with this. What
   * sockets hold is dropped before it refuses a body.
   */
  function isFullWith(bytes: number): boolean {
    if (total + bytes <= maxSmallBytes || !isHeapFull()) return false;
    makeRoom(bytes, maxSmallBytes);
    return total + bytes > maxSmallBytes;
  }

  function freeBody(id: string) {
    const bytes = held.get(id) ?? 0;
    if (bytes > 0) held.set(id, 0);
    total -= bytes;
    if (memory.size === 0) return;
    memory.get(id)?.();
    memory.delete(id);
  }

  function release(id: string) {
    freeBody(id);
    if (!held.delete(id)) scrapes.remove(id);
    if (responses.size > 0) setResponse(id, 0, null);
  }

  return {
    admit(id) {
      if (held.size >= max_concurrent_requests) {
        refused++;
        return false;
      }
      held.set(id, 0);
      return true;
    },
    hold(id, bytes) {
      const own = held.get(id);
      if (own === undefined) return "body_memory";
      makeRoom(bytes, max_body_memory);
      if (total + bytes > max_body_memory) return "body_memory";
      if (isFullWith(bytes)) return "heap";
      held.set(id, own + bytes);
      total += bytes;
      return null;
    },
    isHeapFull: () => isFullWith(0),
    holdDroppable: (holder, bytes, drop) =>
      holdDroppable(holder, { bytes, drop, arrivingFrom: null }),
    holdArriving(holder, client, bytes, drop) {
      holdDroppable(holder, { bytes, drop, arrivingFrom: client });
      while (arriving > MAX_ARRIVING_BYTES) {
        const busiest = busiestClient();
        dropLargest(({ arrivingFrom }) => arrivingFrom === busiest);
      }
    },
    holdResponse: (id, bytes) => holdResponse(id, bytes, null),
    holdGrowing: holdResponse,
    admitScrape: (scrape) => scrape.bytes <= MAX_SMALL_RESPONSE_BYTES || scrapes.add(scrape),
    arrives(id, client, end) {
      const own = bodies.get(client) ?? new Map<string, () => void>();
      bodies.set(client, own.set(id, end));
      return () => {
        if (own.delete(id) && own.size === 0) bodies.delete(client);
      };
    },
    endArriving(newcomer) {
      for (const [client, own] of bodies) {
        if (client === newcomer || own.size <= Math.max(1, max_concurrent_requests / 2)) continue;
        const [oldest] = own;
        if (oldest === undefined) continue;
        const [id, end] = oldest;
        end();
        release(id);
        return true;
      }
      return false;
    },
    onRelease(id, free) {
      if (held.has(id)) memory.set(id, free);
    },
    freeBody,
    release,
    bodyBytesOf: (id) => held.get(id) ?? 0,
    count: () => held.size,
    refused: () => refused,
    bodyBytes: () => total,
    responseBytes: () => responseTotal,
    isResponseMemoryFull: () => responseTotal >= max_response_memory,
  };
}
