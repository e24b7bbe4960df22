import type { Failed, Result } from "../core/failure/result.ts";
import type { Outcome } from "../core/stream/stream.ts";
import type { Target, UpstreamRequest } from "../wires/wire.ts";

/** Facts of a call that is prepared for one target, for a plan. */
export interface PlannedCandidate {
  readonly target: Target;
  readonly request: UpstreamRequest;
  /** Stores the state that the call creates. */
  onComplete(outcome: Outcome): Promise<Result<void>> | null;
}

/** A target of a plan that can serve the call. */
export interface PlannedTarget {
  readonly candidate: PlannedCandidate;
  /** Share of the calls that it serves, as a word. */
  readonly share: string;
  /** Shares of the keys of its provider; null if it has only one. */
  readonly keys: string | null;
}

/** Decision of the router for a call that is only planned, before it picks a target. */
export interface Plan {
  readonly route: string;
  /** Targets that can serve the call, in the order of the file. */
  readonly targets: readonly PlannedTarget[];
  /** Fallbacks that can serve the call, in the order of the file. */
  readonly fallbacks: readonly PlannedCandidate[];
  /** The other targets and fallbacks, each with the reason without values of the request. */
  readonly skipped: readonly { readonly target: string; readonly reason: string }[];
  /** Refusal of the call; null if it is served. */
  readonly refused: Failed | null;
}
