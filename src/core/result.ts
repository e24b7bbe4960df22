import type { Failure, Fault, FaultKind, Refusal, RefusalKind } from "./failure.ts";

/** What a step of the road gives back: its value, or the failure that ends the call. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | Failed;

/** A step that ends the call; `F` narrows what kind of failure it is. */
export interface Failed<F extends Failure = Failure> {
  readonly ok: false;
  readonly failure: F;
}

/** A step that went well. */
export function success<T>(value: T): Result<T> {
  return { ok: true, value };
}

/** A step that ends the call with a failure made elsewhere. */
export function failed<F extends Failure>(failure: F): Failed<F> {
  return { ok: false, failure };
}

/** The gateway refuses the request; `param` is the path of the field that is wrong. */
export function refuse(
  kind: RefusalKind,
  message: string,
  param: string | null = null,
): Failed<Refusal> {
  return failed({ kind, message, param });
}

/**
 * Returns a call that could not be served. Without `details` the upstream may have started processing,
 * sent no `Retry-After` and reported no error.
 */
export function fault(
  kind: FaultKind,
  message: string,
  details: Partial<Omit<Fault, "kind" | "message">> = {},
): Failed<Fault> {
  return failed({
    kind,
    message,
    mayHaveRun: true,
    retryAfterMs: null,
    upstream: null,
    ...details,
  });
}
