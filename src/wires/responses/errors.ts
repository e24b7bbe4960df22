import type { Fault } from "../../core/failure.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { Failed } from "../../core/result.ts";
import { providerError } from "../openai/errors.ts";
import type { Optional } from "../chat_request/refusals.ts";

/** HTTP status of each error code or type (Responses API, errors). */
const STATUS: ReadonlyMap<Optional, number> = new Map<Optional, number>([
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
 * Returns the fault for the `error` of a response, a body or an `error` event. It equals the fault
 * of the HTTP status that belongs to the error, or of 502 if unknown.
 */
export function reportedFault(error: Optional): Failed<Fault> {
  const fields = isObject(error) ? error : {};
  const status = STATUS.get(fields.code) ?? STATUS.get(fields.type);
  return providerError({ error: { ...fields, ...status !== undefined && { status } } });
}

/** Returns the error of an `error` event: a nested object, a string, or fields beside the event's type. */
export function eventError(event: JsonObject): JsonObject {
  if (isObject(event.error)) return event.error;
  if (typeof event.error === "string") return { message: event.error };
  const { message, code, param } = event;
  return { message, code, param };
}
