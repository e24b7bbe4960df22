import type { Failure, Fault, FaultKind, Reason, Refusal, RefusalKind } from "./failure.ts";

/** Result of a step of a call: its value, or the failure that ends the call. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | Failed;

/** The failed result of a step; `F` narrows the kind of failure. */
export interface Failed<F extends Failure = Failure> {
  readonly ok: false;
  readonly failure: F;
}

/** Returns a successful result with the value. */
export function success<T>(value: T): Result<T> {
  return { ok: true, value };
}

/** Returns a failed result with an existing failure. */
export function failed<F extends Failure>(failure: F): Failed<F> {
  return { ok: false, failure };
}

/**
 * Returns a failed result that refuses the request; `at` is the path of the invalid field. A text
 * is a reason that does not depend on the path.
 */
export function refuse(
  kind: RefusalKind,
  reason: Reason | string,
  at: string | null = null,
): Failed<Refusal> {
  return failed({
    kind,
    at,
    reason: typeof reason === "string" ? { kind: "text", text: reason } : reason,
  });
}

/**
 * Returns a failed result for an accepted request. Without `details` the upstream may have started
 * processing, and sent neither `Retry-After` nor an error.
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

/** Returns the failed result of a response that breaks the protocol, or cannot be translated. */
export function invalidResponse(message: string): Failed<Fault> {
  return fault("invalid_upstream_response", message);
}

/** Returns the failed result of a response that ended before its provider had finished it. */
export function responseEndedEarly(): Failed<Fault> {
  return invalidResponse("The provider's response ended before it was complete.");
}

/** The same for a stream that is passed on. */
export function streamEndedEarly(): Failed<Fault> {
  return invalidResponse("The provider's stream ended before the response was finished.");
}

/** Returns the failed result of a response, or a part of it, above one of its bounds. */
export function responseTooLarge(message: string): Failed<Fault> {
  return fault("upstream_response_too_large", message);
}

/** Returns the failed result of a call that met a bug. */
export function internalFault(): Failed<Fault> {
  return fault("internal_error", "The gateway has failed; this is a bug in it.");
}

/** Returns the failed result of a call whose client has disconnected. */
export function clientGone(): Failed<Fault> {
  return fault("client_cancelled", "The client has gone.");
}

/**
 * Returns the failed result of a cancelled call; a call that is cancelled without a reason has lost
 * its client.
 */
export function cancelled(reason: Failure | null): Failed {
  return reason === null ? clientGone() : failed(reason);
}

/** Returns the values of all results, or the first failure. */
export function allOf<T>(results: readonly Result<T>[]): Result<readonly T[]> {
  const values: T[] = [];
  for (const result of results) {
    if (!result.ok) return result;
    values.push(result.value);
  }
  return success(values);
}

/**
 * A value that is there, or a promise of it. Code that gets the value takes no turn of the event
 * loop.
 */
export type Awaitable<T> = T | Promise<T>;

/** Returns the result of `next` for a value, immediately if the value is there. */
export function whenReady<T, Next>(
  value: Awaitable<T>,
  next: (value: T) => Awaitable<Next>,
): Awaitable<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
