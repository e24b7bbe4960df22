import type { AttemptFacts } from "./attempt_facts.ts";

/** Identity of a span in a trace (W3C Trace Context). */
export interface SpanIds {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

/** Span of a call. It exists while spans are exported. */
export interface CallSpan extends SpanIds {
  /** False if the trace is not sampled, so that the span is not exported. */
  readonly isExported: boolean;
  /** Begins the span of an attempt at an upstream. */
  beginAttempt(): AttemptSpan;
}

/** Span of an attempt at an upstream. */
export interface AttemptSpan {
  /** `traceparent` header of this span, for a provider that continues traces. */
  readonly traceparent: string;
  /** Filled while the attempt runs. */
  readonly facts: AttemptFacts;
}
