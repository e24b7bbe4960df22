import type { TokenCheck } from "./token_check.ts";
import { type EndpointFacts, UNKNOWN_ENDPOINT } from "../core/endpoint.ts";
import type { UpstreamCause } from "../core/failure/connection_error.ts";
import type { BilledUnits, Usage } from "../core/stream/events.ts";
import type { AttemptSpan, CallSpan, SpanIds } from "../core/call_span.ts";
import type { PrivacyCounts } from "../core/privacy_counts.ts";
import { type End, type Failure, FAULTS, isFaultKind, logEndOf } from "../core/failure/failure.ts";

/** One attempt at one provider. */
export interface Attempt {
  readonly provider: string;
  /** Name of the key that was used; null if the provider has only one, or no request was sent. */
  readonly key: string | null;
  /** True if the attempt went on with another key after a refused one, so that it is no retry. */
  readonly isRotated: boolean;
  readonly model: string;
  readonly outcome: "success" | Failure["kind"];
  /** Cause of the failure; null if its kind says all. */
  readonly cause: UpstreamCause | null;
  /** Number of the attempt at its target, from 1. */
  readonly number: number;
  /** Milliseconds to the first content of its stream; absent without one. */
  readonly firstContentMs?: number;
  /** Span of an attempt that was begun; absent while spans are not exported. */
  readonly span?: AttemptSpan;
  /** Milliseconds since the call began. The attempt of a stream ends when its delivery begins. */
  readonly began: number;
  readonly ended: number;
}

/**
 * True if a call was sent to a provider, or answered from the cache: a whole reply to any other is
 * the gateway's own.
 */
export function wasServed(
  { attempts, cache }: Pick<CallReport, "cache"> & { readonly attempts: readonly unknown[] },
): boolean {
  return attempts.length > 0 || cache === "HIT";
}

/**
 * True if the attempt was sent: no open circuit breaker, full queue or resting key has ended it
 * before.
 */
export function wasSent({ outcome }: Pick<Attempt, "outcome">): boolean {
  return !isFaultKind(outcome) || FAULTS[outcome].notSent !== true;
}

/** Returns the retries that were sent. */
export function retriesOf(attempts: readonly Attempt[]): Attempt[] {
  return attempts.filter((one) => one.number > 1 && !one.isRotated && wasSent(one));
}

/** Label values of metrics for a client that the configuration does not name. */
export interface MeasuredClient {
  readonly client: string;
  /** Labels of the client, of which the configuration has all values; null for none. */
  readonly labels: Readonly<Record<string, string>> | null;
}

/** Tokens and cost of all attempts of a call. */
export interface Charge {
  readonly tokens: number;
  /** Whole nano-dollars; models without a price cost nothing. */
  readonly nanoUsd: number;
}

/**
 * Report of a call, filled while it runs. Each sink receives it once, after the last byte is sent.
 */
export interface CallReport {
  readonly id: string;
  readonly method: string;
  /** At the end without the key of the client, as the session and the models. */
  path: string;
  /** Start of the call on the monotonic clock, in milliseconds. */
  readonly began: number;
  /** Received `traceparent` header; null if absent. */
  traceparent: string | null;
  /** Span of the call; null while spans are not exported. */
  span: CallSpan | null;
  /** Span of the handshake of a turn on a WebSocket; null for every other call. */
  handshake: SpanIds | null;
  /**
   * Name of the session, or the user ID of a Messages request without one; null if absent.
   */
  session: string | null;
  /** Source of the session. */
  sessionFrom: string | null;
  /** Conversation that a Responses request names. */
  conversation: string | null;
  /** Endpoint of the call. */
  endpoint: EndpointFacts;
  /** Name of the client key; null if no key is required or the key is invalid. */
  client: string | null;
  /** Name of the template of the client, and of the issuer of its token. */
  template: string | null;
  issuer: string | null;
  /** Labels of a client with a token in metrics; null for every other one. */
  measured: MeasuredClient | null;
  /** End user of the client key, as a part of a digest. */
  endUser: string | null;
  /** Refusal of the token of the client; null if none was refused. */
  tokenRefusal: Exclude<TokenCheck, { readonly kind: "client" }> | null;
  /** `previous` for a secret that the client key has replaced; null otherwise. */
  keySecret: "previous" | null;
  /**
   * Milliseconds by which the clock of a provider was found to be ahead, by which its requests are
   * signed from now on; null for the call that has not found it.
   */
  clockAheadMs: number | null;
  /** Labels of the client key that logs and metrics show; null for none. */
  keyLabels: Readonly<Record<string, string>> | null;
  route: string | null;
  provider: string | null;
  model: string | null;
  status: number;
  /** True if the client requested a stream, even if none began. */
  stream: boolean;
  failure: Failure | null;
  /** True if the failure occurred after delivery had begun. */
  brokeOff: boolean;
  /** Number of fallbacks from a failed target to the next one. */
  fallbacks: number;
  readonly attempts: Attempt[];
  /** Milliseconds in queues of providers; 0 if the call never waited. Included in `ms.upstream`. */
  queuedMs: number;
  usage: Usage | null;
  /**
   * True if a count of `usage`, or of another attempt that the client is charged for, is an
   * estimate.
   */
  estimated: boolean;
  /** Charge of the client key. */
  charge: Charge | null;
  /** Units of the call besides tokens, which are priced if `usage` is null. */
  units: BilledUnits | null;
  /** Cost in USD; null if the price or the usage is unknown. */
  cost: number | null;
  /** True if the model has a price, but what the call has used is not known. */
  isCostUnknown: boolean;
  /** Number of breakpoints of the prompt cache that the gateway has set in the request. */
  cacheBreakpoints: number;
  /**
   * Paths of request fields that the upstream received only in part, and that the gateway checked.
   */
  lossy: readonly string[];
  verified: readonly string[];
  /**
   * Set if a write of the call is not in the state store: it waits in this process, or is lost
   * because too many wait. Null otherwise.
   */
  unstored: "pending" | "lost" | null;
  /** Number of calls of custom tools that the provider has as functions. */
  customCalls: number;
  /**
   * Set if the stream was held back: until it was complete, or until its hold was released. Null if
   * it was not.
   */
  held: "complete" | "released" | null;
  /** Extent of the record of the call; null for none. */
  recorded: "heads" | "all" | null;
  /** Items that the gateway's own conversation had before the call. */
  conversationItems: number | null;
  /** Model as the client has named it in a body that was read; null otherwise. */
  requestedModel: string | null;
  /** Result of the cache lookup; null if there was none. */
  cache: "HIT" | "MISS" | null;
  /** Counts of the privacy rules; null for a call without a policy. */
  privacy: PrivacyCounts | null;
  /** Facts for the admin page; null while it is off. */
  trace: Trace | null;
  /** Type and location of a thrown error, never its message; null if nothing was thrown. */
  bug: string | null;
  /**
   * Milliseconds since the start of the call; `upstream` is the time spent waiting for upstreams.
   */
  readonly ms: {
    /** The head and first sign of life of a stream before an upstream responded; null for none. */
    earlyHead: number | null;
    firstByte: number | null;
    firstToken: number | null;
    upstream: number;
    total: number;
  };
}

/** No request fields; shared, because most calls have none. */
export const NO_PATHS: readonly string[] = [];

/** Receives the report of a finished call. */
export type Sink = (report: Readonly<CallReport>) => void;

/** Returns an empty report of a call that begins now. */
export function newReport(id: string, method: string, path: string, began: number): CallReport {
  return {
    id,
    method,
    path,
    began,
    traceparent: null,
    span: null,
    handshake: null,
    session: null,
    sessionFrom: null,
    conversation: null,
    endpoint: UNKNOWN_ENDPOINT,
    client: null,
    template: null,
    issuer: null,
    measured: null,
    endUser: null,
    tokenRefusal: null,
    keySecret: null,
    clockAheadMs: null,
    keyLabels: null,
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
    estimated: false,
    charge: null,
    units: null,
    cost: null,
    isCostUnknown: false,
    cacheBreakpoints: 0,
    lossy: NO_PATHS,
    verified: NO_PATHS,
    unstored: null,
    customCalls: 0,
    held: null,
    recorded: null,
    conversationItems: null,
    requestedModel: null,
    cache: null,
    privacy: null,
    trace: null,
    bug: null,
    ms: { earlyHead: null, firstByte: null, firstToken: null, upstream: 0, total: 0 },
  };
}

/** True if a provider bills a call that succeeded: it served it, and not from the cache. */
export function isBilled(
  { failure, cache, endpoint }: Pick<CallReport, "failure" | "cache" | "endpoint">,
): boolean {
  return failure === null && cache !== "HIT" && endpoint.isBilled;
}

/** Returns the kind of end of a call for logs and spans. */
export function endOf({ failure, brokeOff }: Pick<CallReport, "failure" | "brokeOff">): End {
  if (failure === null) return "complete";
  const end = logEndOf(failure);
  return brokeOff && end.startsWith("upstream_") ? "stream_broken" : end;
}

/** A target of a route, as the routing of a call has found it. */
export interface TracedTarget {
  readonly provider: string;
  /** Null if neither the request nor the file names a model. */
  readonly model: string | null;
  readonly isFallback: boolean;
  /** True for the target that the route has picked first. */
  readonly isChosen: boolean;
  /** Why it was passed over; null if it was able to serve the call. */
  readonly skipped: string | null;
}

/** Further facts of a call, which only the admin page shows. */
export interface Trace {
  /** Model as the client has named it, in a header or the body; null until it is read. */
  requestedModel: string | null;
  /** Targets in the order of the route; empty until the call is routed. */
  targets: readonly TracedTarget[];
  /** Records of the stream that were passed to the client's connection. */
  records: number;
}

/** Returns the trace of a call that has just begun. */
export function newTrace(): Trace {
  return { requestedModel: null, targets: [], records: 0 };
}
