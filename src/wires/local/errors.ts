import type { Fault, FaultKind } from "../../core/failure/failure.ts";
import { isObject, type JsonObject, numberOf } from "../../core/json/json.ts";
import { type ErrorFields, typeOfStatus } from "../../core/failure/openai_error.ts";
import { type Failed, fault, invalidResponse } from "../../core/failure/result.ts";
import type { Optional } from "../../prompt/refusals.ts";

/**
 * Returns the fields of the runtime's error body; null if the body is not an error. `error` is a
 * string, or an object behind some proxies. The type follows from the status. `signin_url` is
 * dropped.
 */
export function errorFields(body: JsonObject): Partial<ErrorFields> | null {
  const { error } = body;
  if (typeof error === "string") return error === "" ? null : plain(error);
  if (!isObject(error)) return null;
  return plain(typeof error.message === "string" ? error.message : "The provider gave an error.");
}

function plain(message: string): Partial<ErrorFields> {
  return { message, param: null, code: null };
}

/**
 * True for the status of a request that the runtime cancelled itself (499). A client must not read
 * it as its own cancellation, so the attempt fails as `invalid_upstream_status`.
 */
export function isBrokenOff(status: number): boolean {
  return status === 499;
}

/**
 * Returns the fault of a response or record that is malformed or reports an error without a status.
 */
export function malformed(what: string): Failed<Fault> {
  return invalidResponse(`The local runtime sent ${what}.`);
}

/** Status of an error that names none, as for every protocol. */
const UNNAMED_STATUS = 502;

/**
 * Returns the fault of a record with an `error` field. Before commit, the record's own `status`, if
 * present, counts like an HTTP status.
 */
export function recordFault(record: JsonObject, isCommitted: boolean): Failed<Fault> {
  const fields = errorFields(record);
  if (isCommitted || fields === null) return malformed("an error in place of a response");
  const named = numberOf(record.status);
  const status = named === null || kindOf(named) === null ? UNNAMED_STATUS : named;
  const error = { type: typeOfStatus(status), ...fields };
  return fault(kindOf(status) ?? "upstream_unavailable", "The local runtime gave an error.", {
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

/** True if the `error` field of a record reports an error. */
export function isError(error: Optional): boolean {
  return error !== undefined && error !== null && error !== "";
}
