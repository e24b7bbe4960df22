import type { Outcome, StreamTranslation } from "../core/stream/stream.ts";
import type { RequestType } from "../core/endpoint.ts";
import type { Failure } from "../core/failure/failure.ts";
import type {
  HttpResponse,
  KeepAlive,
  StreamRecord,
  UpstreamResponse,
} from "../core/stream/reply.ts";
import type { Result } from "../core/failure/result.ts";
import type { Carried } from "../prompt/carry.ts";
import { pathsOf } from "../prompt/response_promise.ts";
import type { Provider, ProviderAccount, Target, UpstreamRequest } from "../wires/wire.ts";
import type { MeteredRequest } from "../access/meter.ts";
import type { ResponseProvenance } from "../store/bindings.ts";
import { type CallReport, NO_PATHS } from "../observe/report.ts";

/** The place of an object at an upstream: its provider, and the account that owns it there. */
export interface Place {
  readonly provider: Provider;
  /** Null if only the client names the provider, so that any key of it may be used. */
  readonly account: ProviderAccount | null;
}

/**
 * The provider that must serve a call, and the provenance of the response that the call continues.
 */
export interface RequiredTarget extends Place {
  /** API of the provider that must be used. */
  readonly protocol: ResponseProvenance["protocol"];
  /**
   * Provenance of the continued response; null if the client names the provider of an unknown
   * object.
   */
  readonly origin: ResponseProvenance | null;
  /** The request field with the ID of the continued object. */
  readonly param: "previous_response_id" | "conversation";
}

/** A client request as input of routing, cache and attempts. */
export interface Inference {
  /**
   * Request type of the call, then the types under which it is matched if no route accepts the
   * first type.
   */
  readonly matchesAs: readonly [RequestType, ...RequestType[]];
  /** Requested model; "" or "auto" leaves the choice to the route. */
  readonly model: string;
  /** True if an upstream can serve the request without a model; absent if it needs one. */
  readonly isModelOptional?: true;
  readonly stream: boolean;
  /**
   * Required target of a call that continues stored state, which has no routing and no fallback;
   * null if any target may serve it.
   */
  readonly owner: RequiredTarget | null;
  /**
   * Digest of the account that accepts the stored reasoning of the request, which a pool of keys
   * uses first; absent without stored reasoning.
   */
  readonly reasoningAccount?: string;
  /**
   * Returns the client's JSON and the request to a target as one canonical text; null if the
   * response is not cacheable.
   */
  canonical(request: UpstreamRequest): string | null;
  /** Prepares the call for a target; a Refusal if the target does not support a field of it. */
  prepare(target: Target): Result<Candidate>;
  /**
   * Returns what the stream says if it begins before a candidate has responded; absent if it never
   * does.
   */
  readonly newEarly?: () => EarlyStream;
}

/** Records of a stream before a candidate has responded, and if none does. */
export interface EarlyStream {
  /**
   * Returns the first records, which nothing that these candidates may send contradicts; null if
   * there are none.
   */
  begin(left: readonly Candidate[]): readonly StreamRecord[] | null;
  /** Sign of life until the response begins. */
  readonly keepAlive: KeepAlive;
  /** Returns the terminal records if no candidate responds. */
  fail(failure: Failure): readonly StreamRecord[];
}

/** A call prepared for one target. */
export interface Candidate extends MeteredRequest {
  /**
   * True if the upstream stores state: then an attempt is retried only if it was certainly not
   * processed.
   */
  readonly hasSideEffects: boolean;
  /**
   * Set if the gateway must store something of the response: then nothing is sent while the state
   * store is known to be unavailable. `optional`: the client may send `store: false` instead.
   * Absent otherwise.
   */
  readonly storage?: "optional" | "required";
  /**
   * Prepares the same call for another key of the provider's pool; absent if only the account of
   * the target may serve the call.
   */
  withAccount?(account: ProviderAccount): Result<Candidate>;
  /**
   * Prepares the same call with thinking turned off, for a model that refuses its tool loop without
   * thinking; absent if that would change nothing.
   */
  withoutThinking?(): Result<Candidate>;
  /**
   * True if the account of the target is used first: only it accepts the stored reasoning of the
   * call.
   */
  readonly prefersAccount?: boolean;
  /** Returns a new handler for each attempt, because a stream translation has state. */
  responseHandler(): ResponseHandler;
  /**
   * Stores the state that the call creates. Awaited before the response or
   * the last event of the stream is sent; a failure replaces it.
   */
  onComplete(outcome: Outcome): Promise<Result<void>> | null;
  /**
   * Stores the ID of a streamed response; awaited before the first record that holds it is sent.
   */
  identify?(id: string): Promise<Result<void>>;
}

/** The chosen candidate, then the fallbacks in order. */
export type Candidates = readonly [Candidate, ...Candidate[]];

/**
 * Translation of the upstream's response to the client's response. `by_type` chooses the handler
 * when the content type of a response with status 200 to 203 has arrived, in lower case without
 * parameters. `isDelimited` is false if the body ends with its connection, so that its end may be a
 * break.
 */
export type ResponseHandler =
  | FixedResponseHandler
  | {
    readonly kind: "by_type";
    choose(contentType: string, isDelimited: boolean): FixedResponseHandler;
  };

/** A response handler that does not depend on the content type of the response. */
export type FixedResponseHandler = WholeHandler | StreamHandler | BytesHandler;

/** Reads a whole response. */
export interface WholeHandler {
  readonly kind: "whole";
  /** Maximum bytes of the response body; the general limit if absent. */
  readonly limit?: number;
  /**
   * Members of the JSON object that `read` uses, so that it gets the outline of a large body;
   * absent if it parses every body.
   */
  readonly needed?: readonly string[];
  /** True if every 2xx status is a response, also without a body; otherwise only 200 is. */
  readonly takesAnySuccess?: boolean;
  read(
    response: UpstreamResponse,
  ): Result<{ readonly response: HttpResponse; readonly outcome: Outcome }>;
}

/** Translates a stream of records. */
export interface StreamHandler {
  readonly kind: "stream";
  readonly translation: StreamTranslation;
  /**
   * Members of a record that the translation uses, so that it gets the outline of a large one;
   * absent if it parses every record.
   */
  readonly needed?: readonly string[];
  /** Maximum bytes of one record; the general limit if absent. */
  readonly maxRecordBytes?: number;
  /** True if the upstream's headers are forwarded to the client. */
  readonly copiesHeaders?: boolean;
  /** True if the client gets the upstream's status of success; otherwise it gets 200. */
  readonly copiesStatus?: boolean;
}

/** Passes the bytes of a response on as they arrive. */
export interface BytesHandler {
  readonly kind: "bytes";
  /** True if the client has requested a range, so that status 206 is a response too. */
  readonly isRange?: boolean;
  /** The outcome of a response that has arrived in full. */
  readonly outcome: Outcome;
}

/**
 * Records which fields of the request the candidate carries only in part, or with a check, and what
 * the gateway has added: of the candidate that is called, or whose cached response is returned.
 */
export function setCarriage(
  report: CallReport,
  { request }: Pick<Candidate, "request">,
): void {
  report.cacheBreakpoints = request.cacheBreakpoints ?? 0;
  Object.assign(report, carriedPaths(request));
}

/** Returns the paths of the fields that the upstream gets only in part, and of the checked ones. */
export function carriedPaths(
  { lossy = NO_PATHS, promises }: Carried,
): Pick<CallReport, "lossy" | "verified"> {
  return { lossy, verified: promises === undefined ? NO_PATHS : pathsOf(promises) };
}
