import { failureAnswer, typeOfStatus } from "../core/envelope.ts";
import type { Failure } from "../core/failure.ts";
import { isObject, parseJson } from "../core/json.ts";
import type { HeaderFields } from "../core/reply.ts";
import { utf8Text } from "../formats/utf8.ts";

const WAIT = "retry-after";

/**
 * A failure as the event that tells it on a socket, with the members that its answer over HTTP has,
 * flat and nested at once: clients read either. `own` are headers that the gateway would add to that
 * answer; only the time to wait is told (OpenAI API, Responses over WebSocket).
 */
export function errorEvent(failure: Failure, own: HeaderFields): string {
  const { status, headers, body } = failureAnswer(failure);
  const envelope = parseJson(utf8Text(body) ?? "");
  const told = isObject(envelope) && isObject(envelope.error) ? envelope.error : {};
  const type = typeof told.type === "string" ? told.type : typeOfStatus(status);
  const message = typeof told.message === "string" ? told.message : failure.message;
  const { code = null, param = null } = told;
  const wait = own[WAIT] ?? headers[WAIT];
  const waiting = wait === undefined ? {} : { headers: { [WAIT]: wait } };
  const error = { ...told, type, code, message, param, ...waiting };
  return JSON.stringify({ type: "error", status, code, message, param, sequence_number: 0, error });
}
