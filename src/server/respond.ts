import { type Failure, statusOf } from "../core/failure/failure.ts";
import { clientGone, type Failed, internalFault, type Result } from "../core/failure/result.ts";
import type { HeaderFields } from "../core/header_fields.ts";
import type {
  BytesReply,
  HttpResponse,
  Reply,
  StoredReply,
  WholeReply,
} from "../core/stream/reply.ts";
import type { Call } from "../call/call.ts";
import { gatewayFields, NOTHING_KNOWN } from "../observe/gateway_fields.ts";
import { costOfUse, findPrice, type Pricing } from "../observe/cost.ts";
import { type CallReport, isBilled } from "../observe/report.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { bytesBody } from "./bytes_body.ts";
import { refuseResponse } from "./admission/overload.ts";
import { MAX_SMALL_RESPONSE_BYTES } from "../traffic/admission.ts";
import { heldBody, writtenPieces } from "./held_body.ts";
import type { Pace } from "./pace.ts";
import type { Peer } from "../runtime/peer.ts";
import { heldBytes } from "../store/retention.ts";
import { chargeCall } from "./charge.ts";
import { internalError } from "./internal_error.ts";
import type { Flusher } from "./flusher.ts";
import { type HeaderPair, newResponse, setField } from "../runtime/new_response.ts";
import { type BodyEnding, type ResponseEnding, streamBody } from "./stream_body.ts";
import { type Taking, watchTaking } from "./taking.ts";

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;

/** Header field of every response. */
export const NOSNIFF = ["x-content-type-options", "nosniff"] as const;

/** Dependencies of every response besides its call. */
export interface Responder {
  /** Called once for each call, when the last byte of its response is written. */
  readonly ended: Gateway["ended"];
  readonly flusher: Flusher;
  /** The pace at which stored objects are written. */
  readonly pace: Pace;
}

/** The client of a response, by what is known of the bytes that it takes. */
interface Client {
  readonly whenTaken: Peer["whenTaken"];
  readonly taking: Taking | null;
}

/**
 * Returns the response to a call, with the gateway's headers. The call ends when the client has
 * taken its last byte, or the response is small and was passed to the runtime. `finished` is the
 * reply that the privacy rules of the call have changed; absent without a policy.
 */
export function respond(
  call: Call,
  made: Result<Reply>,
  responder: Responder,
  peer: Peer = {},
  finished?: Reply,
): Response {
  if (peer.isLast?.() === true) call.responseHeaders["connection"] = "close";
  const refusal = refuseRead(call, made);
  const result = refusal ?? made;
  const now = recordFirstByte(call, result);
  const reply = (refusal === null ? finished : undefined) ??
    captureContent(call, result.ok ? result.value : failureReply(call, result.failure));
  const isSmall = reply.kind === "whole" && reply.response.body.length <= MAX_SMALL_RESPONSE_BYTES;
  // One small response of a connection costs as much as the connection.
  const taking = isSmall && peer.isShared?.() !== true ? null : watchTaking(call, peer);
  const client = { whenTaken: peer.whenTaken, taking };
  if (reply.kind === "whole") return wholeResponse(call, reply.response, now, responder, client);
  if (reply.kind === "stored") return storedResponse(call, reply, now, responder, client);
  if (reply.kind === "bytes") return bytesResponse(call, reply, now, responder, client);
  const body = streamBody(reply, {
    world: call.world,
    cancellation: call.cancellation,
    flusher: responder.flusher,
    pingMs: call.generation.config.server.ping_interval,
    trace: call.report.trace,
    taking,
    onEnd: (ending) => finishWhenTaken(call, responder, client, ending),
  });
  const fields = ownFields(call);
  addFields(fields, reply.headers);
  addFields(fields, STREAM_HEADERS);
  addGatewayFields(fields, call, now);
  return newResponse(body, reply.status ?? 200, fields);
}

/** Returns the refusal of a read of a stored object for which there is no response memory. */
function refuseRead(call: Call, result: Result<Reply>): Failed | null {
  const isRead = result.ok && result.value.kind === "stored" && call.method === "GET";
  return isRead ? refuseResponse(call) : null;
}

/** Returns the same reply; its content is captured while data sharing is on. */
export function captureContent<Kind extends Reply>({ capture }: Call, reply: Kind): Kind {
  return capture?.reply(reply) ?? reply;
}

/** Returns the response to a call that failed, in the error format of its endpoint. */
export function failureReply({ id, report }: Call, failure: Failure): WholeReply {
  return { kind: "whole", response: report.endpoint.errors.whole(failure, id) };
}

/**
 * Records status and times when the response begins. Returns the milliseconds since the call began.
 */
export function recordFirstByte({ report, world }: Call, result: Result<Reply>): number {
  const now = world.now() - report.began;
  report.ms.firstByte = now;
  if (!result.ok) {
    report.failure = result.failure;
    report.status = statusOf(result.failure);
  } else if (result.value.kind === "stored") {
    report.status = 200;
  } else if (result.value.kind !== "whole") {
    report.status = result.value.status ?? 200;
    report.stream = result.value.kind === "stream";
    // A sign of life is no token.
    if (report.stream && report.ms.earlyHead === null) report.ms.firstToken = now;
  }
  return now;
}

function bytesResponse(
  call: Call,
  { status, headers, pieces }: BytesReply,
  now: number,
  responder: Responder,
  client: Client,
): Response {
  const body = bytesBody(pieces, {
    cancellation: call.cancellation,
    taking: client.taking,
    onEnd: (ending) => finishWhenTaken(call, responder, client, ending),
  });
  const fields = ownFields(call);
  addFields(fields, noTransform(headers));
  addGatewayFields(fields, call, now);
  return newResponse(body, status, fields);
}

function wholeResponse(
  call: Call,
  whole: HttpResponse,
  now: number,
  responder: Responder,
  client: Client,
): Response {
  const { unstored } = call.report;
  call.report.status = whole.status;
  const fields = ownFields(call);
  addFields(fields, noTransform(whole.headers));
  addGatewayFields(fields, call, now);
  // A stream has sent its headers before anything is stored.
  if (unstored !== null) setField(fields, "x-gateway-state", unstored);
  const { length } = whole.body;
  if (length > MAX_SMALL_RESPONSE_BYTES && call.method !== "HEAD") {
    call.state.admission.holdResponse(call.id, length);
    const body = heldBody([whole.body].values(), {
      cancellation: call.cancellation,
      taking: client.taking,
      onEnd: (ending) => finishWhenTaken(call, responder, client, ending),
    });
    setField(fields, "content-length", String(length));
    return newResponse(body, whole.status, fields);
  }
  const response = newResponse(whole.status === 204 ? null : whole.body, whole.status, fields);
  client.taking?.passed(true);
  finishCall(call, responder, { isWhole: true });
  return response;
}

/**
 * Returns the response with a stored object: a small one as a whole, a larger one piece by piece.
 * Objects of the store in memory are in it anyway, so that only the piece counts; those of other
 * stores are copies.
 */
function storedResponse(
  call: Call,
  { value }: StoredReply,
  now: number,
  responder: Responder,
  client: Client,
): Response {
  const { admission, availability } = call.state;
  const headers = { "content-type": "application/json" };
  const pieces = writtenPieces(value);
  const first = pieces.next();
  const beginning = first.done === true ? new Uint8Array() : first.value;
  if (beginning.length <= MAX_SMALL_RESPONSE_BYTES || call.method === "HEAD") {
    const whole = { status: 200, headers, body: beginning };
    return wholeResponse(call, whole, now, responder, client);
  }
  const copiedBytes = availability === null ? 0 : heldBytes(value);
  const hold = (bytes: number) => admission.holdResponse(call.id, copiedBytes + bytes);
  // Counted now, not when the client takes the first piece: the next read may begin before.
  hold(beginning.length);
  const body = heldBody(prepended(beginning, pieces), {
    cancellation: call.cancellation,
    taking: client.taking,
    pace: responder.pace,
    onPiece: hold,
    onEnd: (ending) => finishWhenTaken(call, responder, client, ending),
  });
  const fields = ownFields(call);
  addFields(fields, noTransform(headers));
  addGatewayFields(fields, call, now);
  return newResponse(body, 200, fields);
}

function* prepended<Value>(first: Value, rest: Iterable<Value>): Generator<Value, void, void> {
  yield first;
  yield* rest;
}

/**
 * Returns the first header fields of a response: without no-transform the runtime would compress
 * the body, and its bytes would differ from the upstream's; with nosniff no browser takes them for
 * another type. The request ID in the header of the client API is replaced by an upstream's own ID.
 */
function ownFields({ id, report }: Call): HeaderPair[] {
  const { idHeader } = report.endpoint.errors;
  const fields: HeaderPair[] = [
    ["cache-control", "no-transform"],
    [...NOSNIFF],
  ];
  if (idHeader !== undefined) fields.push([idHeader, id]);
  return fields;
}

function addFields(fields: HeaderPair[], headers: HeaderFields): void {
  for (const name in headers) setField(fields, name, headers[name] ?? "");
}

function noTransform(headers: HeaderFields): HeaderFields {
  const { "cache-control": directives } = headers;
  if (directives === undefined) return headers;
  return { ...headers, "cache-control": `${directives}, no-transform` };
}

function addGatewayFields(fields: HeaderPair[], call: Call, now: number): void {
  const { id, report, responseHeaders } = call;
  addFields(fields, responseHeaders);
  setField(fields, "x-gateway-request-id", id);
  // SDKs read the request ID from this header. An upstream's own ID never replaces it.
  setField(fields, "x-request-id", id);
  if (report.ms.earlyHead !== null) return addEarlyFields(fields, report);
  const overheadMs = Math.max(0, now - report.ms.upstream);
  setField(fields, "x-gateway-latency-ms", now.toFixed(1));
  setField(fields, "x-gateway-overhead-duration-ms", overheadMs.toFixed(1));
  for (const [name, value] of gatewayFields(report)) {
    if (name === "x-gateway-provider") addForeignContentPolicy(fields);
    setField(fields, name, value);
  }
}

/** Adds what is known before a provider has responded; a comment of the stream has the rest. */
function addEarlyFields(fields: HeaderPair[], { route, privacy }: CallReport): void {
  const known = { ...NOTHING_KNOWN, route, privacy };
  for (const [name, value] of gatewayFields(known)) setField(fields, name, value);
  addForeignContentPolicy(fields);
  setField(fields, "x-gateway-early", "true");
}

/** Content of a provider must not run as a page of the gateway's origin. */
function addForeignContentPolicy(fields: HeaderPair[]): void {
  fields.push(["content-security-policy", "sandbox; default-src 'none'"]);
}

/**
 * Ends a call when its client has taken the response that was passed to the runtime, or its
 * connection has ended. A response that is cut off, a small one, and one whose connection cannot be
 * looked at end it immediately.
 */
function finishWhenTaken(
  call: Call,
  responder: Responder,
  { whenTaken, taking }: Client,
  ending: BodyEnding,
): void {
  taking?.passed(true);
  if (!ending.isWhole || ending.bytes <= MAX_SMALL_RESPONSE_BYTES || whenTaken === undefined) {
    return finishCall(call, responder, ending);
  }
  let isFinished = false;
  const finish = () => {
    if (isFinished) return;
    isFinished = true;
    finishCall(call, responder, ending);
  };
  whenTaken(finish);
  if (!isFinished) call.cancellation.onCancel(finish);
}

/**
 * Ends a call whose response has ended or was aborted: completes its report, removes it from the
 * calls in flight, charges its client, releases its concurrency slot and its memory, and passes the
 * call to `ended`. Counts that are still read are awaited.
 */
export function finishCall(call: Call, responder: Responder, ending: ResponseEnding): void {
  const { report, world } = call;
  report.ms.total = world.now() - report.began;
  const reading = call.client.meter?.reading ?? null;
  if (reading === null) return endCall(call, responder, ending);
  void reading.catch((error: unknown) => internalError(call, error))
    .then(() => endCall(call, responder, ending));
}

function endCall(call: Call, { ended }: Responder, { isWhole }: ResponseEnding): void {
  const { id, report, state, cancellation, generation } = call;
  if (report.failure === null && !isWhole) {
    report.failure = cancellation.isClientGone ? clientGone().failure : cancellation.reason ??
      internalFault().failure;
    report.brokeOff = true;
  }
  chargeCall(call);
  addCost(report, generation.config);
  state.admission.release(id);
  state.inFlight.finish(id);
  ended(call);
}

/** Adds the cost of a finished call to its report, or that it is not known. */
function addCost(report: CallReport, pricing: Pricing): void {
  const { usage, units, provider, model } = report;
  const isUsed = usage !== null || units !== null;
  const mustBeKnown = isBilled(report);
  if (provider === null || model === null || !(isUsed || mustBeKnown)) return;
  const price = findPrice(pricing, provider, model);
  if (price === null) return;
  if (isUsed) report.cost = costOfUse(price, { usage, units });
  report.isCostUnknown = mustBeKnown && report.cost === null;
}
