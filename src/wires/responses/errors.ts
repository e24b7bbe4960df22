import type { Fault } from "../../core/failure/failure.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { Failed } from "../../core/failure/result.ts";
import { providerError } from "../openai/errors.ts";
import type { Optional } from "../../prompt/refusals.ts";

/** Returns the fault for the `error` of a response, a body or an `error` event. */
export function reportedFault(error: Optional): Failed<Fault> {
  return providerError({ error: isObject(error) ? error : {} });
}

/**
 * Returns the error of an `error` event: a nested object, a string, or fields besides the event's
 * type.
 */
export function eventError(event: JsonObject): JsonObject {
  if (isObject(event.error)) return event.error;
  if (typeof event.error === "string") return { message: event.error };
  const { message, code, param } = event;
  return { message, code, param };
}
