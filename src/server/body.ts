import { atPaceOf } from "../core/at_once.ts";
import type { Config } from "../config/schema.ts";
import type { JsonDocument } from "../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../core/failure/result.ts";
import { emptyDocument, requestSteps } from "../formats/document.ts";
import { type MultipartBody, newFormParser } from "../formats/multipart.ts";
import { utf8Text } from "../formats/utf8.ts";
import type { Endpoint } from "../api/client_api.ts";
import type { Call } from "../call/call.ts";
import { awaitTurn } from "../call/call_turns.ts";
import { hideValues } from "../redaction/request.ts";
import { holdBody } from "../traffic/call_memory.ts";
import { turnForText } from "../traffic/loop_turns.ts";
import {
  MAX_BODY_BYTES,
  MAX_SMALL_BODY_BYTES,
  receiveBlocks,
  receiveBody,
  receiveSmallBody,
  tooLarge,
} from "./receive_body.ts";
import type { RequestHeaders } from "../core/header_fields.ts";
import { discardBody } from "./discard_body.ts";

/** Limits of a request body, named as in the configuration. */
export type BodyLimits = Pick<Config["server"], "body_timeout" | "max_json_members" | "max_upload">;

const EMPTY = new Uint8Array();

/**
 * Reads the JSON object in the body of a request, whatever its content type. An optional body may
 * be empty. A request that is refused before all of its body was read ends its connection.
 */
export async function readBody(
  call: Call,
  request: Request,
  { body: wanted, maxBodyBytes = MAX_BODY_BYTES }: Pick<Endpoint, "body" | "maxBodyBytes">,
  { body_timeout, max_json_members }: BodyLimits,
): Promise<Result<JsonDocument>> {
  const bytes = await receive(call, request, maxBodyBytes, (declared) => {
    if (declared !== null && declared <= MAX_SMALL_BODY_BYTES) {
      return declared === 0
        ? Promise.resolve(success(EMPTY))
        : receiveSmallBody(call, request, declared, body_timeout);
    }
    const { body } = request;
    return body === null
      ? Promise.resolve(success(EMPTY))
      : receiveBody(call, body, declared, body_timeout, maxBodyBytes);
  });
  if (!bytes.ok) return bytes;
  if (wanted === "optional" && bytes.value.length === 0) return success(emptyDocument);
  const { turns } = call;
  const turn = turnForText(turns, bytes.value.length, "entering", call.cancellation);
  const stopped = turn === null ? null : await awaitTurn(call, turn);
  if (stopped !== null) return stopped;
  const text = utf8Text(bytes.value);
  if (text === null) return refuse("invalid_json", "The request body is not valid UTF-8.");
  const limits = { maxItems: max_json_members, hold: (more: number) => holdBody(call, more) };
  const parsing = requestSteps(text, limits, bytes.value);
  const parsed = await atPaceOf(() => ({ next: () => turns.next("large") }), parsing);
  if (parsed.ok) return parsed;
  const { capture, client: { privacy } } = call;
  // Rules of privacy cannot find values in a text that is no JSON.
  if (privacy !== null) return hideValues(privacy, parsed);
  capture?.unparsed?.(text, request.url);
  return parsed;
}

/** Reads the multipart body of a request, of at most `max_upload` bytes, like `readBody`. */
export async function readForm(
  call: Call,
  request: Request,
  { body_timeout: timeoutMs, max_upload: maxBytes }: BodyLimits,
): Promise<Result<MultipartBody>> {
  const received = await receive(call, request, maxBytes, async (declared) => {
    const parser = newFormParser(call.headers.get("content-type") ?? "");
    if (!parser.ok) return parser;
    const { push, end } = parser.value;
    const limits = { declared, timeoutMs, maxBytes };
    const body = declared === 0 ? null : request.body;
    const pieces = body === null ? success([]) : await receiveBlocks(call, body, limits, push);
    return pieces.ok ? success(() => end(pieces.value)) : pieces;
  });
  return received.ok ? received.value() : received;
}

/**
 * Receives the body of a request with `read`, which gets its content length.
 * A refusal before all of the body was read ends the connection.
 */
async function receive<Received>(
  call: Call,
  request: Request,
  maxBytes: number,
  read: (declared: number | null) => Promise<Result<Received>>,
): Promise<Result<Received>> {
  const declared = declaredLength(call.headers);
  const refusal = refuseUnread(call.headers, declared, maxBytes);
  if (refusal !== null) {
    await leaveUnread(call, request);
    return refusal;
  }
  const received = await read(declared);
  if (received.ok) return received;
  call.responseHeaders["connection"] = "close";
  call.state.admission.freeBody(call.id);
  await leaveUnread(call, request);
  const { body } = request;
  if (body?.locked === false) body.cancel().catch(() => {});
  return received;
}

function declaredLength(headers: RequestHeaders): number | null {
  const written = headers.get("content-length");
  return written === null || !/^\d+$/.test(written) ? null : Number(written);
}

/**
 * Discards what has not been read of the body of a request, if it has one. Its response says that
 * the connection ends: the runtime closes it if the body has not arrived by then, and the next
 * request would be lost.
 */
export function leaveUnread(call: Call, request: Request): Promise<void> | null {
  const { headers, responseHeaders } = call;
  const isChunked = headers.has("transfer-encoding");
  if (!isChunked && (headers.get("content-length") ?? "0") === "0") return null;
  responseHeaders["connection"] = "close";
  return discardBody(call, request, isChunked ? null : declaredLength(headers));
}

/** Returns the refusal of a request by its header fields; null if its body may be read. */
function refuseUnread(
  headers: RequestHeaders,
  declared: number | null,
  maxBytes: number,
): Failed | null {
  const coding = headers.get("content-encoding");
  if (coding !== null) {
    const refusal = refuseCoding(coding);
    if (refusal !== null) return refusal;
  }
  return declared !== null && declared > maxBytes ? tooLarge(maxBytes) : null;
}

/**
 * Names of content codings are short words; any other text is not repeated in the error message.
 */
const CODING_NAME = /^[a-z0-9._+-]{1,32}$/;

function refuseCoding(written: string): Failed | null {
  const codings = written.split(",").map((coding) => coding.trim().toLowerCase());
  const coding = codings.find((one) => one !== "" && one !== "identity");
  if (coding === undefined) return null;
  const named = CODING_NAME.test(coding) ? ` '${coding}'` : " that is not known";
  return refuse(
    "unsupported_content_encoding",
    `The request body has the content encoding${named}; send it without one.`,
  );
}
