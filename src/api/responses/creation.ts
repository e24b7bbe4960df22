import type { Outcome } from "../../core/stream/stream.ts";
import type { Usage } from "../../core/stream/events.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Result } from "../../core/failure/result.ts";
import type { Call } from "../../call/call.ts";
import type { Candidate } from "../../call/inference.ts";
import type { Target } from "../../wires/wire.ts";
import type { Identities } from "./generate/identity.ts";
import type { ResolvedRequest } from "./state/continuation.ts";
import type { ResponsesRequest } from "./request.ts";

/** Request to create one response, for a native or a translated target. */
export interface Creation {
  readonly call: Call;
  readonly request: ResponsesRequest;
  readonly context: ResolvedRequest;
  /**
   * Stores the finished response. A failure is sent to the client in place of its terminal event.
   */
  readonly storeOutcome: (target: Target, outcome: Outcome) => Promise<Result<void>>;
  /** Identities of the responses that translated candidates generate. */
  readonly identities: Identities;
  /** True if clients treat an `error` event as the end of the stream, before the terminal event. */
  readonly hidesErrors: boolean;
}

/** A finished response with the request and the target that produced it. */
export interface FinishedResponse {
  readonly target: Target;
  readonly context: ResolvedRequest;
  readonly request: ResponsesRequest;
  readonly resource: JsonObject;
  /** Token counts; null if the upstream reports none. */
  readonly usage: Usage | null;
}

/** Returns the candidate of a create request for one target, or the refusal of the request. */
export type CandidateFactory = (target: Target) => Result<Candidate>;
