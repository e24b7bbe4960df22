import { failureAnswer, typeOfStatus } from "../core/envelope.ts";
import type { Failure } from "../core/failure.ts";
import { isObject, parseJson } from "../core/json.ts";
import { utf8Text } from "../formats/utf8.ts";

/**
 * A failure as the event that tells it on a socket, with the members that its answer over HTTP has,
 * flat and nested at once: clients read either (OpenAI API, Responses over WebSocket).
 */
export function errorEvent(failure: Failure): string {
  const { status, body } = failureAnswer(failure);
  const envelope = parseJson(utf8Text(body) ?? "");
  const told = isObject(envelope) && isObject(envelope.error) ? envelope.error : {};
  const type = typeof told.type === "string" ? told.type : typeOfStatus(status);
  const message = typeof told.message === "string" ? told.message : failure.message;
  const { code = null, param = null } = told;
  const error = { ...told, type, code, message, param };
  return JSON.stringify({ type: "error", status, code, message, param, sequence_number: 0, error });
}
