import { type Failure, type Fault, FAULTS, isRefusal, type Refusal, REFUSALS } from "./failure.ts";
import type { Answer } from "./reply.ts";

/** The members of an error in the OpenAI envelope; an undefined one is left out. */
export interface ErrorFields {
  readonly message: string;
  readonly type: string;
  readonly param?: string | null;
  readonly code?: string | null;
}

const encoder = new TextEncoder();

/** Status of a failure as the client sees it. */
export function statusOf(failure: Failure): number {
  if (isRefusal(failure)) return REFUSALS[failure.kind];
  const status = FAULTS[failure.kind][0];
  return status === "theirs" ? failure.answer?.status ?? 502 : status;
}

/** The error a failure is told as; the upstream's own error is not looked at. */
function fieldsOf(failure: Failure): ErrorFields {
  return isRefusal(failure) ? refusalFields(failure) : faultFields(failure);
}

function refusalFields(refusal: Refusal): ErrorFields {
  return {
    message: refusal.message,
    type: typeOfStatus(REFUSALS[refusal.kind]),
    param: refusal.param,
    code: refusal.kind === "unknown_model" ? "model_not_found" : refusal.kind,
  };
}

function faultFields(fault: Fault): ErrorFields {
  const [, type, code] = FAULTS[fault.kind];
  const shown = { message: fault.message, type: type === "theirs" ? "upstream_error" : type };
  return code === "none"
    ? shown
    : { ...shown, param: null, code: code === "kind" ? fault.kind : null };
}

/** The `type` of an error that brings none, by its status. */
export function typeOfStatus(status: number): string {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 409:
      return "conflict_error";
    case 429:
      return "rate_limit_error";
    case 400:
    case 404:
    case 405:
    case 408:
    case 413:
    case 415:
    case 422:
    case 426:
      return "invalid_request_error";
    default:
      return status >= 500 ? "server_error" : "upstream_error";
  }
}

/** One error as JSON text: `{"error":{…}}`. */
export function envelope(fields: ErrorFields): string {
  return JSON.stringify({ error: fields });
}

/** The whole answer to a call that failed before anything was delivered. */
export function failureAnswer(failure: Failure): Answer {
  if (!isRefusal(failure) && FAULTS[failure.kind][0] === "theirs" && failure.answer !== null) {
    return failure.answer;
  }
  return {
    status: statusOf(failure),
    headers: { "content-type": "application/json", ...waitingTime(failure) },
    body: encoder.encode(envelope(fieldsOf(failure))),
  };
}

function waitingTime(failure: Failure): Record<string, string> {
  if (isRefusal(failure) || failure.retryAfter === null) return {};
  return { "retry-after": String(Math.ceil(failure.retryAfter / 1000)) };
}
