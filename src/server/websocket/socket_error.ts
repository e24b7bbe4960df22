import { type Failure, statusOf } from "../../core/failure/failure.ts";
import { messageOf, openaiError, typeOfStatus } from "../../core/failure/openai_error.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { HeaderFields } from "../../core/header_fields.ts";

const WAIT = "retry-after";

/**
 * Returns a failure as the error event of a socket, with the members of the error over HTTP, flat
 * and nested at once: clients read either. `own` are headers that the gateway would add to the
 * response over HTTP; of all headers only `Retry-After` is in the event (OpenAI API, Responses over
 * WebSocket). `finished` is the error over HTTP if rules of privacy have searched it.
 */
export function errorEvent(failure: Failure, own: HeaderFields, finished?: JsonObject): string {
  const status = statusOf(failure);
  const { headers, error } = openaiError(failure);
  const shown = finished ?? error;
  const type = typeof shown.type === "string" ? shown.type : typeOfStatus(status);
  const message = typeof shown.message === "string" ? shown.message : messageOf(failure);
  const { code = null, param = null } = shown;
  const wait = own[WAIT] ?? headers[WAIT];
  const waiting = wait === undefined ? {} : { headers: { [WAIT]: wait } };
  const sent = { ...shown, type, code, message, param, ...waiting };
  return JSON.stringify({
    type: "error",
    status,
    code,
    message,
    param,
    sequence_number: 0,
    error: sent,
  });
}
