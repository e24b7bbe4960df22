import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import { findBehaviour, type Style } from "./model_behaviour.ts";
import { wholeBodySteps } from "./defects.ts";
import { newBodyStream, untilAborted } from "./body_stream.ts";
import { type ApiError, type Defect, type Deps, newApiError, type Protocol } from "./protocol.ts";

/** A call to the simulator: its protocol, its HTTP request and the simulator's dependencies. */
export interface SimCall {
  readonly protocol: Protocol;
  readonly httpRequest: Request;
  readonly deps: Deps;
}

const JSON_TYPE = { "content-type": "application/json" } as const;

/** The error inside a response that breaks off. */
export const SIMULATED_FAILURE = newApiError("Simulated failure.", { status: 500 });

/** Reads a request body as a JSON object; returns null if it is not one. */
export async function readJsonBody(request: Request): Promise<JsonObject | null> {
  const body = parseJson(await request.text());
  return isObject(body) ? body : null;
}

/**
 * Responds with the behaviour of a model. `answer` makes the response of a model that generates
 * output.
 */
export async function runModel(
  model: string,
  call: SimCall,
  answer: (style: Style) => Promise<Response> | Response,
): Promise<Response> {
  const behaviour = findBehaviour(model);
  if (behaviour === null) return errorResponse(call.protocol.unknownModelError(model), call);
  switch (behaviour.kind) {
    case "answer":
      return await answer(behaviour.style);
    case "error": {
      const { status } = behaviour;
      return errorResponse(
        newApiError(`Simulated failure with status ${status}.`, { status }),
        call,
      );
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
  return new Response(JSON.stringify(body), { status, headers });
}

/** Returns the 404 response for an object that the account does not have. */
export function notFoundResponse(what: string, id: string, call: SimCall): Response {
  return errorResponse(newApiError(`${what} with id '${id}' not found.`, { status: 404 }), call);
}

/**
 * Reads a request body as a JSON object; returns {} if the body is empty, null if it is not an
 * object.
 */
export async function readOptionalBody({ httpRequest }: SimCall): Promise<JsonObject | null> {
  const text = await httpRequest.text();
  const body = text === "" ? {} : parseJson(text);
  return isObject(body) ? body : null;
}
