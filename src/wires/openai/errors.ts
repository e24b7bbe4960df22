import type { Fault, FaultKind } from "../../core/failure.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type ErrorFields, typeOfStatus } from "../../core/openai_error.ts";
import { type Failed, fault } from "../../core/result.ts";

/** Message, type, param and code of a Chat Completions error body; null when it is none. */
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

/**
 * An error that a provider tells with status 200, in a body or as a record of a stream. Its own
 * status decides where it names one, else it counts as 502.
 */
export function providerError(body: JsonObject): Failed<Fault> {
  const status = statusIn(body);
  const fields: Partial<ErrorFields> = errorFields(body) ?? {};
  const error = {
    message: fields.message ?? "The provider answered with an error.",
    type: fields.type ?? typeOfStatus(status),
    param: fields.param ?? null,
    code: fields.code ?? null,
  };
  return fault(kindOf(status), "The provider answered with an error.", {
    upstream: { status, headers: {}, error, raw: null },
  });
}

function statusIn(body: JsonObject): number {
  const error = isObject(body.error) ? body.error : body;
  const named = [error.status, error.code].find((value) =>
    // 499 is the gateway's own word for a client that has gone.
    typeof value === "number" && Number.isInteger(value) && value >= 400 && value <= 599 &&
    value !== 499
  );
  return typeof named === "number" ? named : 502;
}

function kindOf(status: number): FaultKind {
  if (status === 429) return "upstream_throttled";
  return status >= 500 ? "upstream_unavailable" : "upstream_rejected";
}

/** An answer or a record that cannot be understood, or not be carried. */
export function malformed(what: string): Failed<Fault> {
  return fault("invalid_upstream_response", `The provider sent ${what}.`);
}
