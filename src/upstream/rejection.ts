import type { FaultKind, UpstreamError } from "../core/failure.ts";
import { isObject, isTooDeep, type JsonObject, parseJson } from "../core/json/json.ts";
import { type ErrorFields, typeOfStatus } from "../core/openai_error.ts";
import { type Failed, failed, fault } from "../core/result.ts";
import type { Incoming } from "../core/world.ts";
import { utf8Bytes, utf8Text } from "../formats/utf8.ts";
import type { Call } from "../call/call.ts";
import { detailMessage } from "../wires/detail.ts";
import type { Target, Wire } from "../wires/wire.ts";
import { type BodyReader, readAll } from "./body.ts";
import { clientResponseHeaders, retryAfterMs } from "./headers.ts";
import { redacted } from "./redact.ts";

/** An error body larger than this many bytes is not handed on. */
const ERROR_LIMIT = 1024 * 1024;

/** Statuses with which an upstream says that it did not start processing. */
const STATUS_NOT_PROCESSED = [429, 503, 529];

/** What an upstream answer other than 200 means: never a success. */
export async function rejection(
  call: Call,
  target: Target,
  response: Incoming,
  body: BodyReader,
): Promise<Failed> {
  const { status, headers } = response;
  // 499 is the gateway's own word for a client that has gone.
  if (status < 400 || status > 599 || status === 499) {
    await body.cancel();
    return fault("invalid_upstream_status", `The provider answered with status ${status}.`);
  }
  const bytes = await readAll(body, ERROR_LIMIT);
  if (!bytes.ok && bytes.failure.kind !== "upstream_response_too_large") {
    return failed(bytes.failure);
  }
  const text = bytes.ok ? utf8Text(bytes.value) : null;
  return fault(kindOf(call, status), `The provider answered with status ${status}.`, {
    mayHaveRun: !STATUS_NOT_PROCESSED.includes(status),
    retryAfterMs: retryAfterMs(headers, call.world.unix() * 1000),
    upstream: {
      status,
      headers: clientResponseHeaders(headers, target.provider.secrets),
      ...errorIn(target, status, text),
    },
  });
}

function kindOf(call: Call, status: number): FaultKind {
  const isRetryable = call.generation.config.retry.retryable_errors.includes(status);
  if (status >= 500) return isRetryable ? "upstream_unavailable" : "upstream_error";
  return isRetryable ? "upstream_throttled" : "upstream_rejected";
}

/** Returns the error in a body, which is passed on as it is if its format already is the client's. */
function errorIn(
  { wire, provider: { secrets } }: Target,
  status: number,
  text: string | null,
): Pick<UpstreamError, "error" | "raw"> {
  const clean = text === null ? null : redacted(text, secrets);
  const body = clean === null ? undefined : parseJson(clean);
  if (clean === null || !isObject(body)) return { error: completed(status, null), raw: null };
  const fields = wire.error(body);
  if (isOpenaiError(wire) && isObject(body.error)) {
    // What is nested deeper could not be written as JSON again.
    const error = isTooDeep(body.error) ? completed(status, fields) : body.error;
    return { error, raw: utf8Bytes(clean) };
  }
  const message = fields?.message ?? detailMessage(body, (said) => redacted(said, secrets));
  const known = { ...fields, ...message !== null && { message } };
  return { error: completed(status, known), raw: null };
}

/** True if the errors of the protocol have the format of the OpenAI API. */
function isOpenaiError({ name }: Wire): boolean {
  return name === "compat" || name === "responses";
}

function completed(status: number, fields: Partial<ErrorFields> | null): JsonObject {
  return {
    message: fields?.message ?? `The provider answered with status ${status}.`,
    type: fields?.type ?? typeOfStatus(status),
    param: fields?.param ?? null,
    code: fields?.code ?? null,
  };
}
