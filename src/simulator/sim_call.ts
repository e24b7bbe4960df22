import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import { findBehaviour, type Style } from "./model_behaviour.ts";
import { wholeBodySteps } from "./defects.ts";
import { type BodyStep, newBodyStream, untilAborted } from "./body_stream.ts";
import { type ApiError, type Defect, type Deps, newApiError, type Protocol } from "./protocol.ts";

/** A call to the simulator: its protocol, its HTTP request and the simulator's dependencies. */
export interface SimCall {
  readonly protocol: Protocol;
  readonly httpRequest: Request;
  readonly deps: Deps;
}

/** The response to a call, or its error, which is encoded in the call's protocol. */
export type Answer = Response | ApiError;

const JSON_TYPE = { "content-type": "application/json" } as const;

/** The error inside a response that breaks off. */
export const SIMULATED_FAILURE = newApiError("Simulated failure.", { status: 500 });

/** Reads a request body as a JSON object; returns null if it is not one. */
export async function readJsonBody(request: Request): Promise<JsonObject | null> {
  const body = parseJson(await request.text());
  return isObject(body) ? body : null;
}

/** Returns a handler of calls whose body must be a JSON object. */
export function withJson<Call extends SimCall>(
  act: (call: Call, body: JsonObject) => Promise<Answer> | Answer,
  error: ApiError = newApiError("The body is no JSON object."),
): (call: Call) => Promise<Answer> {
  return async (call) => {
    const body = await readJsonBody(call.httpRequest);
    return body === null ? error : await act(call, body);
  };
}

/**
 * Responds with the behaviour of a model. `answer` makes the response of a model that generates
 * output.
 */
export async function runModel(
  model: string,
  call: SimCall,
  answer: (style: Style) => Promise<Answer> | Answer,
): Promise<Answer> {
  const behaviour = findBehaviour(model);
  if (behaviour === null) return call.protocol.unknownModelError(model);
  switch (behaviour.kind) {
    case "answer":
      return await answer(behaviour.style);
    case "error": {
      const { status } = behaviour;
      return newApiError(`Simulated failure with status ${status}.`, { status });
    }
    case "redirect":
      return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
    case "no_content":
      return new Response(null, { status: 204 });
    case "hang":
      await untilAborted(call.httpRequest.signal);
      return new Response(null, { status: 499 });
  }
}

/** Returns the defect of a model's responses; null for none. */
export function defectOf(style: Style): Defect | null {
  return style.kind === "broken" ? style.defect : null;
}

/** Returns a stream of events with these steps. */
export function streamResponse(
  steps: Iterator<BodyStep>,
  deps: Deps,
  { type = "text/event-stream", status = 200 }: { type?: string; status?: number } = {},
): Response {
  const headers = { "content-type": type, "cache-control": "no-cache" };
  return new Response(newBodyStream(steps, deps), { status, headers });
}

/** Returns a whole JSON response, broken if it has a defect. */
export function wholeResponse(value: JsonObject, defect: Defect | null, call: SimCall): Response {
  const body = JSON.stringify(value);
  if (defect === null) return new Response(body, { headers: JSON_TYPE });
  const error = JSON.stringify(call.protocol.encodeError(SIMULATED_FAILURE, call.deps));
  return new Response(newBodyStream(wholeBodySteps(body, defect, error), call.deps), {
    headers: JSON_TYPE,
  });
}

const RETRYABLE_STATUSES: readonly number[] = [429, 503, 529];

/** Returns an error response in the call's protocol. Retryable statuses carry `retry-after: 1`. */
export function errorResponse(error: ApiError, { protocol, deps }: SimCall): Response {
  const { status } = error;
  const body = protocol.encodeError(error, deps);
  const headers = {
    ...JSON_TYPE,
    ...RETRYABLE_STATUSES.includes(status) ? { "retry-after": "1" } : {},
    // Messages API, errors: the header repeats the request ID of the body.
    ...typeof body.request_id === "string" ? { "request-id": body.request_id } : {},
  };
  return new Response(JSON.stringify(protocol.listsErrors === true ? [body] : body), {
    status,
    headers,
  });
}

/** Returns the 404 for an object that the account does not have. */
export function notFound(what: string, id: string): ApiError {
  return newApiError(`${what} with id '${id}' not found.`, { status: 404 });
}
