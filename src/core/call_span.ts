import type { Usage } from "./stream/events.ts";
import type { StreamRecord } from "./stream/reply.ts";

/** Identity of a span in a trace (W3C Trace Context). */
export interface SpanIds {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

/** A provider as it is called; a reload may change it before the call ends. */
export interface CalledProvider {
  readonly type: string;
  readonly base_url: string;
}

/** Returns a text without what no span may have. */
export type TextMask = (text: string) => string;

/** Span of a call. It exists while spans are exported. */
export interface CallSpan extends SpanIds {
  /** False if the trace is not sampled, so that the span is not exported. */
  readonly isExported: boolean;
  /**
   * Begins the span of an attempt at an upstream. `mask` hides keys in a text; null if there is
   * nothing to hide.
   */
  beginAttempt(called: CalledProvider, mask: TextMask | null): AttemptSpan;
}

/** Span of an attempt at an upstream, which learns from what is sent and received. */
export interface AttemptSpan {
  /** `traceparent` header of this span, for a provider that continues traces. */
  readonly traceparent: string;
  /**
   * Learns from a request as it is sent: its path below the base address, and its body. A multipart
   * body says nothing.
   */
  sent(path: string, body: Uint8Array | readonly Uint8Array[] | null): void;
  /** Learns the status of the response. */
  responded(status: number): void;
  /** Learns from a whole body of a response. */
  receivedBody(bytes: Uint8Array): void;
  /** Learns from a group of records of a stream. */
  receivedRecords(records: readonly StreamRecord[]): void;
  /** Sets the source of the counts that the provider has reported; the last one counts. */
  uses(counts: () => Usage | null): void;
  /** Reads the counts: the attempt has ended, and their source refers to all of it. */
  settle(): void;
}
