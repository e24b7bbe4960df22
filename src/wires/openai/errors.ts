import type { Fault, FaultKind } from "../../core/failure/failure.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type ErrorFields, typeOfStatus } from "../../core/failure/openai_error.ts";
import { type Failed, fault, invalidResponse } from "../../core/failure/result.ts";

/**
 * Returns message, type, param and code of a Chat Completions error body; null if the body is not
 * an error.
 */
export function errorFields(body: JsonObject): Partial<ErrorFields> | null {
  if (typeof body.error === "string") return { message: body.error };
  const fields = isObject(body.error) ? body.error : body;
  const { message, type, param, code } = fields;
  if (typeof message !== "string") return null;
  return {
    message,
    ...(typeof type === "string" ? { type } : {}),
    ...(typeof param === "string" ? { param } : {}),
    ...(typeof code === "string" ? { code } : {}),
  };
}

/** HTTP status of each error code or type (OpenAI API, errors of streams). */
const STATUS: ReadonlyMap<unknown, number> = new Map([
  ["rate_limit_exceeded", 429],
  ["insufficient_quota", 429],
  ["server_error", 500],
  ["vector_store_timeout", 504],
  ["invalid_prompt", 400],
  ["data_residency_mismatch", 400],
  ["bio_policy", 400],
  ["misalignment_policy_violation", 400],
  ["context_length_exceeded", 400],
  ["invalid_image", 400],
  ["invalid_image_format", 400],
  ["invalid_base64_image", 400],
  ["invalid_image_url", 400],
  ["image_too_large", 400],
  ["image_too_small", 400],
  ["image_parse_error", 400],
  ["image_content_policy_violation", 400],
  ["invalid_image_mode", 400],
  ["image_file_too_large", 400],
  ["unsupported_image_media_type", 400],
  ["empty_image_file", 400],
  ["failed_to_download_image", 400],
  ["image_file_not_found", 400],
  ["invalid_request_error", 400],
]);

/**
 * Returns the fault of a provider error under status 200, in a body or a stream record. The error's
 * own status applies if it has one, then the one of its code or type; otherwise 502.
 */
export function providerError(body: JsonObject): Failed<Fault> {
  const status = statusIn(body);
  const fields: Partial<ErrorFields> = errorFields(body) ?? {};
  const error = {
    message: fields.message ?? "The provider responded with an error.",
    type: fields.type ?? typeOfStatus(status),
    param: fields.param ?? null,
    code: fields.code ?? null,
  };
  return fault(kindOf(status), "The provider responded with an error.", {
    upstream: { status, headers: {}, error, raw: null },
  });
}

function statusIn(body: JsonObject): number {
  const error = isObject(body.error) ? body.error : body;
  const named = [error.status, error.code].find((value) =>
    // 499 is excluded: the gateway uses it for a client that disconnected.
    typeof value === "number" && Number.isInteger(value) && value >= 400 && value <= 599 &&
    value !== 499
  );
  if (typeof named === "number") return named;
  return STATUS.get(error.code) ?? STATUS.get(error.type) ?? 502;
}

/** Returns the kind of fault of an error that a response or a record reports with this status. */
export function kindOf(status: number): FaultKind {
  if (status === 429) return "upstream_throttled";
  return status >= 500 ? "upstream_unavailable" : "upstream_rejected";
}

/** Returns the fault of a response or record that is malformed or cannot be translated. */
export function malformed(what: string): Failed<Fault> {
  return invalidResponse(`The provider sent ${what}.`);
}
