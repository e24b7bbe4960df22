import {
  type Failure,
  type FaultKind,
  isRefusal,
  type KeyRefusal,
  type UpstreamError,
} from "../core/failure/failure.ts";
import { isObject, isTooDeep, type JsonObject, parseJson } from "../core/json/json.ts";
import { type ErrorFields, typeOfStatus } from "../core/failure/openai_error.ts";
import { type Failed, failed, fault } from "../core/failure/result.ts";
import type { Usage } from "../core/stream/events.ts";
import type { Incoming } from "../core/world.ts";
import { isTooLargeToParse } from "../formats/parse_limits.ts";
import { utf8Bytes, utf8Text } from "../formats/utf8.ts";
import { wordMask } from "../access/client_key_mask.ts";
import type { Call } from "../call/call.ts";
import { detailMessage } from "../wires/detail.ts";
import { reportedUsage } from "../wires/reported_usage.ts";
import { withoutSecrets } from "../wires/secret_text.ts";
import { secretsOf, type Target, type Wire } from "../wires/wire.ts";
import { type BodyReader, MAX_LATE_READ_MS, MAX_RESPONSE_BYTES, readAll } from "./body.ts";
import { clientResponseHeaders } from "./headers.ts";
import { newLargeCounts } from "./large_counts.ts";
import { retryAfterMs } from "../core/header_fields.ts";
import { learnClock } from "./authorize.ts";
import { keyRefusal } from "./key_refusal.ts";
import { endOfString } from "../core/json/scan.ts";

/** Largest error body that is forwarded. */
const MAX_ERROR_BYTES = 1024 * 1024;

/**
 * Maximum number of steps for parsing an error body: 3 MB of memory, which a call keeps while it
 * waits to be tried again.
 */
export const MAX_ERROR_STEPS = 100_000;

/** Statuses of an upstream that did not start processing the request. */
const STATUS_NOT_PROCESSED = [429, 503, 529];

/** Body of a response with an error status. */
export interface RejectedBody {
  readonly body: BodyReader;
  /** Receives the source of the counts in it; null if nothing counts them. */
  readonly reported: ((usage: () => Usage | null) => void) | null;
}

/** Returns the failure of an upstream response with an error status. */
export async function rejection(
  call: Call,
  target: Target,
  response: Incoming,
  rejected: RejectedBody,
): Promise<Failed> {
  const { body } = rejected;
  const { status, headers } = response;
  // The gateway uses 499 itself for a client that disconnected.
  if (status < 400 || status > 599 || status === 499) {
    // Such an answer is as large as any other, and may have its counts at its end.
    const isRead = status < 400 && rejected.reported !== null;
    const bytes = isRead ? await readError(call, rejected, MAX_RESPONSE_BYTES) : null;
    if (bytes === null) await body.cancel();
    else if (bytes.ok) await count(rejected, bytes.value);
    else if (call.cancellation.reason !== null) return bytes;
    return fault("invalid_upstream_status", `The provider responded with status ${status}.`);
  }
  learnClock(call, target, response);
  const bytes = await readError(call, rejected);
  // The status alone says that the key was refused, also if the body breaks off.
  const isKnown = keyRefusal(status) !== null && call.cancellation.reason === null;
  if (!bytes.ok && bytes.failure.kind !== "upstream_response_too_large" && !isKnown) {
    return failed(bytes.failure);
  }
  const text = bytes.ok ? await count(rejected, bytes.value) : null;
  const parsed = parseError(target, status, text);
  const refusal = keyRefusal(status, parsed.error, target.model);
  return fault(faultKind(call, status), `The provider responded with status ${status}.`, {
    mayHaveRun: !STATUS_NOT_PROCESSED.includes(status),
    retryAfterMs: retryAfterMs(headers, call.world.unix() * 1000),
    ...refusal !== null && { keyRefusal: logged(call, refusal) },
    upstream: {
      status,
      headers: clientResponseHeaders(headers, target),
      ...parsed,
    },
  });
}

/** Returns a refusal as log lines have it: its model may be the key that the client has sent. */
function logged(call: Call, refusal: KeyRefusal): KeyRefusal {
  const { model } = refusal;
  return model === undefined ? refusal : { ...refusal, model: wordMask(call)?.(model) ?? model };
}

/**
 * Reads an error body, or what has arrived of it in 4 s. Of one that is not read whole it meters
 * the counts in its beginning.
 */
async function readError(
  { world }: Call,
  rejected: RejectedBody,
  limit = MAX_ERROR_BYTES,
): ReturnType<typeof readAll> {
  const cancelEnd = world.after(MAX_LATE_READ_MS, rejected.body.end);
  const bytes = await readAll(rejected.body, limit, {
    onBeginning: (beginning) => countLarge(rejected, beginning),
  });
  cancelEnd();
  return bytes;
}

async function countLarge({ body, reported }: RejectedBody, bytes: Uint8Array): Promise<void> {
  if (reported === null) return;
  const { usage } = await newLargeCounts(body)(bytes);
  reported(() => usage);
}

/**
 * Meters the counts in a body. Returns its text; null if it is no text or too large to be parsed.
 */
async function count(rejected: RejectedBody, bytes: Uint8Array): Promise<string | null> {
  const { body, reported } = rejected;
  const text = await isTooLargeToParse(bytes, body.turn, MAX_ERROR_STEPS) ? null : utf8Text(bytes);
  if (text === null) await countLarge(rejected, bytes);
  else reported?.(() => reportedUsage(parseJson(text)));
  return text;
}

function faultKind(call: Call, status: number): FaultKind {
  const isRetryable = call.generation.config.retry.retryable_errors.includes(status);
  if (status >= 500) return isRetryable ? "upstream_unavailable" : "upstream_error";
  return isRetryable ? "upstream_throttled" : "upstream_rejected";
}

/** Returns the error in a body, with its bytes for clients that use the format of the upstream. */
function parseError(
  target: Target,
  status: number,
  text: string | null,
): Pick<UpstreamError, "error" | "raw"> {
  const { wire } = target;
  const secrets = secretsOf(target);
  const clean = text === null ? null : redacted(text, secrets);
  const whole = clean === null ? undefined : parseJson(clean);
  // The Gemini API sends a list of one error.
  const [listed] = Array.isArray(whole) ? whole : [];
  const body = listed ?? whole;
  // Clients of the Messages API read any body that the API itself sends.
  const raw = clean !== null && wire.name === "messages"
    ? { format: "messages", body: utf8Bytes(clean) } as const
    : null;
  if (clean === null || !isObject(body)) return { error: completeError(status, null), raw };
  const fields = wire.error(body);
  if (isOpenaiError(wire) && isObject(body.error)) {
    // An error that is nested too deeply could not be encoded as JSON again.
    const error = isTooDeep(body.error) ? completeError(status, fields) : body.error;
    const sent = listed === undefined ? clean : JSON.stringify(body);
    return { error, raw: { format: "openai", body: utf8Bytes(sent) } };
  }
  const message = fields?.message ?? detailMessage(body, (text) => redacted(text, secrets));
  const known = { ...fields, ...message !== null && { message } };
  return { error: completeError(status, known), raw };
}

/** True if the errors of the protocol have the format of the OpenAI API. */
function isOpenaiError({ name }: Wire): boolean {
  return name === "compat" || name === "responses";
}

function completeError(status: number, fields: Partial<ErrorFields> | null): JsonObject {
  return {
    message: fields?.message ?? `The provider responded with status ${status}.`,
    type: fields?.type ?? typeOfStatus(status),
    param: fields?.param ?? null,
    code: fields?.code ?? null,
  };
}

/** Returns the bytes of the error body that a failure keeps. */
export function errorBytes(failure: Failure): number {
  return isRefusal(failure) ? 0 : failure.upstream?.raw?.body.length ?? 0;
}

/**
 * Returns a failure with the secrets removed from its upstream error, which a wire read from a
 * response.
 */
export function redactedFailure(failure: Failure, secrets: readonly string[]): Failure {
  if (isRefusal(failure) || failure.upstream === null) return failure;
  const { error } = failure.upstream;
  const clean = Object.fromEntries(
    Object.entries(error).map(([name, value]) =>
      [name, typeof value === "string" ? redacted(value, secrets) : value] as const
    ),
  );
  return { ...failure, upstream: { ...failure.upstream, error: clean } };
}

/** Returns a text without the secrets, also where a JSON string holds them with escapes. */
function redacted(text: string, secrets: readonly string[]): string {
  const plain = withoutSecrets(text, secrets);
  return secrets.length > 0 && plain.includes("\\") ? withoutEscaped(plain, secrets) : plain;
}

/**
 * Rewrites the JSON strings of a text whose unescaped value holds a secret; the other text is
 * unchanged.
 */
function withoutEscaped(text: string, secrets: readonly string[]): string {
  let clean = "";
  let at = 0;
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', at)) {
    const end = endOfString(text, start);
    const written = text.slice(start, end);
    const value = written.includes("\\") ? parseJson(written) : null;
    const safe = typeof value === "string" ? withoutSecrets(value, secrets) : value;
    clean += text.slice(at, start) + (safe === value ? written : JSON.stringify(safe));
    at = end;
  }
  return clean + text.slice(at);
}
