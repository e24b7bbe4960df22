import type { JsonObject } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type { Call } from "../../gateway/call.ts";
import type { Attempt } from "../../gateway/inference.ts";
import type { Target } from "../../wires/wire.ts";
import type { Context } from "./history.ts";
import type { ResponsesRequest } from "./request.ts";

/** One response that is to be created, whoever creates it. */
export interface Creation {
  readonly call: Call;
  readonly request: ResponsesRequest;
  readonly context: Context;
  /** Hears of the response when it has reached its end, before its terminal goes out. */
  readonly settle: (settled: Settled) => void;
}

/** A response that has reached its end. */
export interface Settled {
  readonly target: Target;
  readonly context: Context;
  readonly request: ResponsesRequest;
  readonly resource: JsonObject;
}

/** Makes a creation ready for one target. */
export type Attempts = (target: Target) => Result<Attempt>;
