import type { SpanContext } from "@opentelemetry/api";
import type { AttemptSpan, CalledProvider, CallSpan, TextMask } from "../../core/call_span.ts";
import { AttemptFacts, newSilentAttempt, type NextTurn } from "./attempt_facts.ts";

/** Dependencies of the span of a call besides its identity. */
interface Opening {
  /** Span of the client; undefined if it sent none. */
  readonly parent: SpanContext | undefined;
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly newSpanId: () => string;
  readonly turn: NextTurn;
}

/** The span of a call that has begun. */
export class OpenCall implements CallSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly isExported: boolean;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly began: number;
  readonly #newSpanId: () => string;
  readonly #turn: NextTurn;

  constructor(context: SpanContext, { parent, began, newSpanId, turn }: Opening) {
    this.traceId = context.traceId;
    this.spanId = context.spanId;
    this.isExported = context.traceFlags !== 0;
    this.context = context;
    this.parent = parent;
    this.began = began;
    this.#newSpanId = newSpanId;
    this.#turn = turn;
  }

  beginAttempt(called: CalledProvider, mask: TextMask | null): AttemptSpan {
    const spanId = this.#newSpanId();
    const traceparent = `00-${this.traceId}-${spanId}-0${this.context.traceFlags}`;
    return this.isExported
      ? new AttemptFacts(spanId, traceparent, { turn: this.#turn, called, mask })
      : newSilentAttempt(traceparent);
  }
}
