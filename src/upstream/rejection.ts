import { envelope, type ErrorFields, typeOfStatus } from "../core/envelope.ts";
import type { FaultKind } from "../core/failure.ts";
import { isObject, parseJson } from "../core/json.ts";
import type { Answer } from "../core/reply.ts";
import { type Failed, failed, fault } from "../core/result.ts";
import type { Incoming } from "../core/world.ts";
import { utf8Bytes, utf8Text } from "../formats/utf8.ts";
import type { Call } from "../gateway/call.ts";
import { detailMessage } from "../wires/detail.ts";
import type { Target, Wire } from "../wires/wire.ts";
import { type BodyReader, readAll } from "./body.ts";
import { copiedBack, retryAfter } from "./headers.ts";
import { redacted } from "./redact.ts";

/** An error body larger than this many bytes is not handed on. */
const ERROR_LIMIT = 1024 * 1024;

/** These statuses say that nothing was begun. */
const NOT_TAKEN = [429, 503, 529];

/** What an upstream answer other than 200 means: never a success. */
export async function rejection(
  call: Call,
  { provider, wire }: Target,
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
  const shown = errorBody(wire, status, text, provider.secrets);
  const copied = copiedBack(headers, provider.secrets);
  return fault(kindOf(call, status), `The provider answered with status ${status}.`, {
    taken: !NOT_TAKEN.includes(status),
    retryAfter: retryAfter(headers, call.world.unix() * 1000),
    answer: answerOf(status, copied, shown),
  });
}

function answerOf(status: number, headers: Answer["headers"], text: string): Answer {
  return {
    status,
    headers: { ...headers, "content-type": "application/json" },
    body: utf8Bytes(text),
  };
}

function kindOf(call: Call, status: number): FaultKind {
  const isRetryable = call.generation.config.retry.retryable_errors.includes(status);
  if (status >= 500) return isRetryable ? "upstream_unavailable" : "upstream_error";
  return isRetryable ? "upstream_throttled" : "upstream_rejected";
}

/** The upstream's own text where it already is the client's envelope, else an envelope made of its fields. */
function errorBody(
  wire: Wire,
  status: number,
  text: string | null,
  secrets: readonly string[],
): string {
  const body = text === null ? undefined : parseJson(text);
  if (text !== null && isObject(body) && isEnvelope(wire) && isObject(body.error)) {
    return text;
  }
  if (!isObject(body)) return envelope(completed(status, null));
  const fields = wire.error(body);
  const message = fields?.message ?? detailMessage(body, (said) => redacted(said, secrets));
  return envelope(completed(status, { ...fields, ...message !== null && { message } }));
}

/** These protocols tell their errors as the client's does. */
function isEnvelope({ name }: Wire): boolean {
  return name === "compat" || name === "responses";
}

function completed(status: number, fields: Partial<ErrorFields> | null): ErrorFields {
  return {
    message: fields?.message ?? `The provider answered with status ${status}.`,
    type: fields?.type ?? typeOfStatus(status),
    param: fields?.param ?? null,
    code: fields?.code ?? null,
  };
}
