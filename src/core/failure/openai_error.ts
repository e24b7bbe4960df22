import type { ErrorFormat } from "./error_format.ts";
import {
  type Failure,
  type Fault,
  FAULTS,
  isRefusal,
  type Refusal,
  REFUSALS,
  statusOf,
} from "./failure.ts";
import type { JsonObject } from "../json/json.ts";
import type { HeaderFields } from "../header_fields.ts";

/** The fields of an error in the OpenAI format; undefined fields are left out. */
export interface ErrorFields {
  readonly message: string;
  readonly type: string;
  readonly param?: string | null;
  readonly code?: string | null;
}

const encoder = new TextEncoder();

/**
 * Returns a failure as an OpenAI error. For the kinds that pass it on, that is the upstream's own
 * error.
 */
export function openaiError(failure: Failure) {
  if (isRefusal(failure)) return { headers: {}, error: refusalFields(failure), raw: null };
  const isUpstreams = FAULTS[failure.kind].status === "upstream";
  if (isUpstreams && failure.upstream !== null) {
    const { headers, error, raw } = failure.upstream;
    return { headers, error, raw: raw?.format === "openai" ? raw.body : null };
  }
  return {
    headers: retryAfterHeader(failure),
    error: faultFields(
      failure,
    ), /** The response body as the upstream sent it; null if it is built from `error`. */
    raw: null,
  };
}

function refusalFields(refusal: Refusal): JsonObject {
  const { kind, at } = refusal;
  const { status, code = kind, type = typeOfStatus(status) } = REFUSALS[kind];
  return { message: openaiWords(refusal), type, param: at, code };
}

/** Returns the sentence of a refusal in the OpenAI format. */
function openaiWords({ at, reason }: Refusal): string {
  const field = `'${at ?? ""}'`;
  switch (reason.kind) {
    case "required":
      return `The field ${field} is required.`;
    case "unexpected":
      return `The field ${field} must be ${reason.expected}.`;
    case "not_carried":
      return `The provider cannot honour ${field}.${
        reason.advice === null ? "" : ` ${reason.advice}`
      }`;
    case "rule":
      return `${reason.before ?? ""}${field} ${reason.rule}.`;
    case "text":
      return reason.text;
  }
}

/**
 * Returns the message of a failure for people who are no clients of an API, such as readers of a
 * log.
 */
export function messageOf(failure: Failure): string {
  return isRefusal(failure) ? openaiWords(failure) : failure.message;
}

function faultFields({ kind, message }: Fault): JsonObject {
  const { type, code } = FAULTS[kind];
  const shown = { message, type: type === "upstream" ? "upstream_error" : type };
  return code === "none" ? shown : { ...shown, param: null, code: code === "kind" ? kind : null };
}

/** Returns the header `Retry-After` of a fault, in seconds; no header if the time is not known. */
export function retryAfterHeader({ retryAfterMs }: Fault): HeaderFields {
  return retryAfterMs === null ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
}

/** Returns the default `type` of an error with this status. */
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

/** Returns the error format of the OpenAI API as JSON text: `{"error":{…}}`. */
export function errorText(error: ErrorFields | JsonObject): string {
  return JSON.stringify({ error });
}

/** The error format of the OpenAI API. */
export const openaiErrors: ErrorFormat = {
  whole(failure) {
    const { headers, error, raw } = openaiError(failure);
    return {
      status: statusOf(failure),
      headers: { ...headers, "content-type": "application/json" },
      body: raw ?? encoder.encode(errorText(error)),
    };
  },
};
