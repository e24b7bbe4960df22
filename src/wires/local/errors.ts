import type { Fault, FaultKind } from "../../core/failure.ts";
import { isObject, type JsonObject, numberOf } from "../../core/json/json.ts";
import { type ErrorFields, typeOfStatus } from "../../core/openai_error.ts";
import { type Failed, fault } from "../../core/result.ts";
import type { Optional } from "../chat_request/refusals.ts";

/**
 * The fields of the runtime's error body, where `error` is a plain string, or an object behind some
 * proxies; null when the body is no error. The type is left to the status. `signin_url` is dropped.
 */
export function errorFields(body: JsonObject): Partial<ErrorFields> | null {
  const { error } = body;
  if (typeof error === "string") return error === "" ? null : plain(error);
  if (!isObject(error)) return null;
  return plain(typeof error.message === "string" ? error.message : "The upstream gave an error.");
}

function plain(message: string): Partial<ErrorFields> {
  return { message, param: null, code: null };
}

/**
 * True for the status by which the runtime says that it broke a call off (499). A client of the
 * gateway must not read it as its own cancellation: it is a failed attempt, `invalid_upstream_status`.
 */
export function isBrokenOff(status: number): boolean {
  return status === 499;
}

/** An answer or a record that cannot be understood, or that says it failed without a status. */
export function malformed(what: string): Failed<Fault> {
  return fault("invalid_upstream_response", `The local runtime sent ${what}.`);
}

/**
 * The failure that a record with an `error` member stands for. Until something was delivered the
 * record's own `status`, when it has one, decides as an HTTP status would.
 */
export function recordFault(record: JsonObject, isCommitted: boolean): Failed<Fault> {
  const status = numberOf(record.status);
  const kind = isCommitted ? null : kindOf(status);
  const fields = errorFields(record);
  if (kind === null || status === null || fields?.message === undefined) {
    return malformed("an error in place of an answer");
  }
  const error = { type: typeOfStatus(status), ...fields };
  return fault(kind, `The local runtime gave an error with status ${status}.`, {
    upstream: { status, headers: {}, error, raw: null },
  });
}

const UNAVAILABLE = [500, 502, 503, 504, 529];

function kindOf(status: number | null): FaultKind | null {
  if (status === null || !Number.isInteger(status) || isBrokenOff(status)) return null;
  if (status < 400 || status > 599) return null;
  if (status === 429) return "upstream_throttled";
  if (status < 500) return "upstream_rejected";
  return UNAVAILABLE.includes(status) ? "upstream_unavailable" : "upstream_error";
}

/** True when a record says that it is an error. */
export function isError(error: Optional): boolean {
  return error !== undefined && error !== null && error !== "";
}
