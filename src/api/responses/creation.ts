import type { Outcome } from "../../core/codec.ts";
import type { Usage } from "../../core/events.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Result } from "../../core/result.ts";
import type { Call } from "../../call/call.ts";
import type { Candidate } from "../../call/inference.ts";
import type { Target } from "../../wires/wire.ts";
import type { ResolvedRequest } from "./state/continuation.ts";
import type { ResponsesRequest } from "./request.ts";

/** One response that is to be created, whoever creates it. */
export interface Creation {
  readonly call: Call;
  readonly request: ResponsesRequest;
  readonly context: ResolvedRequest;
  /** Stores the response that has reached its end; a failure takes the place of its terminal. */
  readonly settle: (target: Target, outcome: Outcome) => Promise<Result<void>>;
  /** True where clients take an error event for the end of the stream, before its terminal. */
  readonly hidesErrors: boolean;
}

/** A response that has reached its end. */
export interface Settled {
  readonly target: Target;
  readonly context: ResolvedRequest;
  readonly request: ResponsesRequest;
  readonly resource: JsonObject;
  /** Null when the upstream is silent about it. */
  readonly usage: Usage | null;
}

/** Makes a creation ready for one target. */
export type Attempts = (target: Target) => Result<Candidate>;
