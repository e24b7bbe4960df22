import { kindOf } from "../openai/errors.ts";
import type { Fault } from "../../core/failure/failure.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { ErrorFields } from "../../core/failure/openai_error.ts";
import { type Failed, fault } from "../../core/failure/result.ts";

/** HTTP status of each error type (Messages API, errors). */
const STATUS: ReadonlyMap<unknown, number> = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["conflict_error", 409],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["api_error", 500],
  ["timeout_error", 504],
  ["overloaded_error", 529],
]);

/** Statuses with which an upstream states that it did not start processing. */
const STATUS_NOT_PROCESSED: readonly number[] = [429, 529];

/** Returns message, type and code of a Messages error body; null if the body is not an error. */
export function errorFields(body: JsonObject): Partial<ErrorFields> | null {
  const { error } = body;
  if (!isObject(error)) return null;
  const code = isObject(error.details) ? error.details.error_code : null;
  return {
    ...typeof error.message === "string" && { message: error.message },
    ...typeof error.type === "string" && { type: error.type },
    param: null,
    code: typeof code === "string" ? code : null,
  };
}

/**
 * Returns the fault of an error under status 200 or in a stream. It equals the fault of the HTTP
 * status that belongs to the error type.
 */
export function reportedFault(body: JsonObject): Failed<Fault> {
  const fields = errorFields(body);
  const status = STATUS.get(fields?.type) ?? 500;
  const error = {
    message: "The provider gave an error without a message.",
    type: "api_error",
    ...fields,
  };
  return fault(kindOf(status), "The provider reported an error in place of a response.", {
    mayHaveRun: !STATUS_NOT_PROCESSED.includes(status),
    upstream: { status, headers: {}, error, raw: null },
  });
}
