import type { ErrorFormat } from "../../core/failure/error_format.ts";
import {
  type Failure,
  FAULTS,
  isRefusal,
  REFUSALS,
  statusOf,
  type UpstreamError,
} from "../../core/failure/failure.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { retryAfterHeader } from "../../core/failure/openai_error.ts";
import type { HeaderFields } from "../../core/header_fields.ts";
import type { HttpResponse, StreamRecord } from "../../core/stream/reply.ts";
import { utf8Bytes } from "../../formats/utf8.ts";
import { errorType } from "./error_type.ts";
import { dottedPath, refusalWords } from "./refusal_words.ts";

/** The response header with the request ID (Messages API, errors). */
const ID_HEADER = "request-id";

/** Statuses for which clients repeat a request by themselves although it cannot succeed. */
const NOT_REPEATED: readonly number[] = [401, 501];

/**
 * The error format of the Messages API. The error of an upstream that uses it too passes with its
 * own bytes, because clients repair requests by its words.
 */
export const messagesErrors: ErrorFormat = {
  idHeader: ID_HEADER,
  whole(failure, id) {
    const reported = reportedError(failure);
    if (reported?.raw?.format === "messages") return passedOn(reported, reported.raw.body);
    const status = statusFor(failure);
    return {
      status,
      headers: {
        ...reported?.headers ?? waitOf(failure),
        "content-type": "application/json",
        [ID_HEADER]: id,
        ...repetition(status),
      },
      body: utf8Bytes(JSON.stringify(envelope(failure, id))),
    };
  },
};

/**
 * Returns the record that ends a stream which broke after delivery began (Messages API, streaming).
 */
export function errorRecord(failure: Failure, id: string): StreamRecord {
  // The upstream's own message is left out: it is not yet free of the secrets of the provider.
  const message = isRefusal(failure) ? refusalWords(failure) : failure.message;
  const error = { type: "api_error", message };
  const data = JSON.stringify({ type: "error", error, request_id: id });
  return { event: "error", data, raw: null };
}

/**
 * Returns the record that ends a stream to whose request nothing responded. Clients repeat the
 * request as it was only after `overloaded_error`, so that is the type of all failures that another
 * request may not have.
 */
export function earlyErrorRecord(failure: Failure, id: string): StreamRecord {
  const status = statusOf(failure);
  const body = envelope(failure, id);
  const own = reportedError(failure);
  const ownType = own?.raw?.format === "messages" ? own.error.type : undefined;
  const type = status === 429 || status >= 500 ? "overloaded_error" : ownType ?? body.error.type;
  const data = JSON.stringify({ ...body, error: { ...body.error, type } });
  return { event: "error", data, raw: null };
}

function passedOn({ status, headers }: UpstreamError, body: HttpResponse["body"]): HttpResponse {
  const own = { "content-type": "application/json", ...repetition(status) };
  return { status, headers: { ...own, ...headers }, body };
}

/**
 * Returns the header that keeps clients from repeating a request in vain; none for other statuses.
 */
function repetition(status: number): HeaderFields {
  return NOT_REPEATED.includes(status) ? { "x-should-retry": "false" } : {};
}

function waitOf(failure: Failure): HeaderFields {
  return isRefusal(failure) ? {} : retryAfterHeader(failure);
}

/** Returns the upstream's own error if the client receives it; null for an error of the gateway. */
function reportedError(failure: Failure): UpstreamError | null {
  if (isRefusal(failure) || FAULTS[failure.kind].status !== "upstream") return null;
  return failure.upstream;
}

/** Body of an error response. */
interface Envelope extends JsonObject {
  readonly error: JsonObject;
}

/** Returns the status for a failure. The API has no status for a body with a content coding. */
function statusFor(failure: Failure): number {
  return failure.kind === "unsupported_content_encoding" ? 400 : statusOf(failure);
}

function envelope(failure: Failure, id: string): Envelope {
  const code = codeOf(failure);
  const param = isRefusal(failure) && failure.at !== null ? dottedPath(failure.at) : null;
  const details = { ...code !== null && { error_code: code }, ...param !== null && { param } };
  const error = {
    type: errorType(statusFor(failure), code),
    message: messageOf(failure),
    ...Object.keys(details).length > 0 && { details },
  };
  return { type: "error", error, request_id: id };
}

function messageOf(failure: Failure): string {
  if (isRefusal(failure)) return refusalWords(failure);
  const message = reportedError(failure)?.error.message;
  return typeof message === "string" ? message : failure.message;
}

/** Returns the `error_code` of a failure; null for an upstream's error without a code. */
function codeOf(failure: Failure): string | null {
  if (failure.kind === "unsupported_content_encoding") return "request_body_encoding_unsupported";
  if (isRefusal(failure)) return REFUSALS[failure.kind].code ?? failure.kind;
  const { type, code } = FAULTS[failure.kind];
  if (code === "kind") return failure.kind;
  if (code === "none") return type;
  const reported = failure.upstream?.error.code;
  return typeof reported === "string" ? reported : null;
}
