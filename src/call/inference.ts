import type { Outcome, StreamTranslation } from "../core/codec.ts";
import type { RequestType } from "../core/endpoint.ts";
import type { HttpResponse, UpstreamResponse } from "../core/reply.ts";
import type { Result } from "../core/result.ts";
import type { Target, UpstreamRequest } from "../wires/wire.ts";
import type { RequiredTarget } from "./owner.ts";

/** What a client API asks of the road. */
export interface Inference {
  /** Its request type, then those under which it is matched if no route takes it as such. */
  readonly matchesAs: readonly [RequestType, ...RequestType[]];
  /** As requested; "" or "auto" leaves it to the route. */
  readonly model: string;
  readonly stream: boolean;
  /** What the call continues, and so who must serve it: no choice, no fallback. Null: whoever can. */
  readonly owner: RequiredTarget | null;
  /**
   * The client's JSON and the request it becomes for a target, as one canonical text; null when the
   * answer is not to be cached.
   */
  canonical(request: UpstreamRequest): string | null;
  /** The call as it would go to this target; a Refusal when the target cannot keep a field of it. */
  prepare(target: Target): Result<Candidate>;
}

/** A call ready for one target. */
export interface Candidate {
  readonly target: Target;
  readonly request: UpstreamRequest;
  /** It leaves something upstream: then only a try that was certainly not taken is repeated. */
  readonly hasSideEffects: boolean;
  /** Fresh for every try: a delivery holds state. */
  responseHandler(): ResponseHandler;
  /**
   * Stores what the call leaves; null if that is nothing. Awaited before the answer or the terminal of
   * the stream is sent: a failure takes its place.
   */
  onComplete(outcome: Outcome): Promise<Result<void>> | null;
  /** Stores the ID of a streamed response; awaited before the first record that holds it is sent. */
  identify?(id: string): Promise<Result<void>>;
}

/** The chosen target, then the fallbacks in order. */
export type Candidates = readonly [Candidate, ...Candidate[]];

/** How the upstream's answer becomes the client's. */
export type ResponseHandler =
  | {
    readonly kind: "answer";
    /** The most bytes that the answer may have; that of every answer when absent. */
    readonly limit?: number;
    /** True where every 2xx status brings an answer, also one without a body; else only 200 does. */
    readonly takesAnySuccess?: boolean;
    read(
      answer: UpstreamResponse,
    ): Result<{ readonly answer: HttpResponse; readonly outcome: Outcome }>;
  }
  | {
    readonly kind: "stream";
    readonly delivery: StreamTranslation;
    /** The upstream's headers go to the client. */
    readonly copiesHeaders?: boolean;
  };
