import { type EndpointFacts, UNKNOWN_ENDPOINT } from "../core/endpoint.ts";
import type { ConnectionCause } from "../core/connection_error.ts";
import type { Usage } from "../core/events.ts";
import { type End, type Failure, FAULTS, isFaultKind, logEndOf } from "../core/failure.ts";

/** One try at one provider. */
export interface Attempt {
  readonly provider: string;
  readonly model: string;
  readonly outcome: "success" | Failure["kind"];
  /** Cause of the failed connection; null where none failed. */
  readonly cause: ConnectionCause | null;
  /** Counts the tries of one target, from 1. */
  readonly number: number;
  /** Milliseconds since the call began. A stream's try ends here when the stream begins to deliver. */
  readonly began: number;
  readonly ended: number;
}

/** Returns the retries that were sent: one that an open breaker or a missing slot kept back was not. */
export function retriesOf(tries: readonly Attempt[]): Attempt[] {
  return tries.filter(({ number, outcome }) =>
    number > 1 && !(isFaultKind(outcome) && FAULTS[outcome].notSent)
  );
}

/** Filled along the road, given once to each sink when the last byte is out. */
export interface CallReport {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Where the call began, on the world's clock. */
  readonly began: number;
  /** The client's trace context, as it was sent; null when there was none. */
  traceparent: string | null;
  /** What the client calls its session, as it was sent; null when it has no name. */
  session: string | null;
  /** The endpoint that serves the call. */
  endpoint: EndpointFacts;
  /** The name of the client's key; null when it needs none or has no valid one. */
  client: string | null;
  route: string | null;
  provider: string | null;
  model: string | null;
  status: number;
  /** The client asked for a stream, whether or not one began. */
  stream: boolean;
  failure: Failure | null;
  /** The failure came after delivery had begun. */
  brokeOff: boolean;
  /** Targets that were given up for the next one. */
  fallbacks: number;
  readonly attempts: Attempt[];
  /** Milliseconds in queues of providers; 0 if the call never waited. They are part of `ms.upstream`. */
  queuedMs: number;
  usage: Usage | null;
  /** In USD; null when the price or the usage is not known. */
  cost: number | null;
  /** What a look into the cache found; null when none took place. */
  cache: "HIT" | "MISS" | null;
  /** Kind and place of what was thrown, never its text; null when nothing was. */
  bug: string | null;
  /** Milliseconds since the beginning; upstream is the time spent waiting for upstreams. */
  readonly ms: {
    firstByte: number | null;
    firstToken: number | null;
    upstream: number;
    total: number;
  };
}

/** Takes the report of a call that is over. */
export type Sink = (report: Readonly<CallReport>) => void;

/** A report of a call that begins now. */
export function newReport(id: string, method: string, path: string, began: number): CallReport {
  return {
    id,
    method,
    path,
    began,
    traceparent: null,
    session: null,
    endpoint: UNKNOWN_ENDPOINT,
    client: null,
    route: null,
    provider: null,
    model: null,
    status: 0,
    stream: false,
    failure: null,
    brokeOff: false,
    fallbacks: 0,
    attempts: [],
    queuedMs: 0,
    usage: null,
    cost: null,
    cache: null,
    bug: null,
    ms: { firstByte: null, firstToken: null, upstream: 0, total: 0 },
  };
}

/** Returns how a call ended. */
export function endOf({ failure, brokeOff }: Pick<CallReport, "failure" | "brokeOff">): End {
  if (failure === null) return "complete";
  const end = logEndOf(failure);
  return brokeOff && end.startsWith("upstream_") ? "stream_broken" : end;
}
