import { type Failure, isRefusal } from "../core/failure/failure.ts";
import { failed, type Result } from "../core/failure/result.ts";
import type { Incoming } from "../core/world.ts";
import type { Usage } from "../core/stream/events.ts";
import type { Reply } from "../core/stream/reply.ts";
import type { Call } from "../call/call.ts";
import { awaitTurn, turnForRequest } from "../call/call_turns.ts";
import type { Candidate, ResponseHandler } from "../call/inference.ts";
import { Meter } from "../access/meter.ts";
import { isChargedKey } from "../access/permissions.ts";
import { storeSentValues } from "../redaction/finish_outcome.ts";
import { newResponseMemory } from "../traffic/call_memory.ts";
import { recognise } from "../wires/host_errors.ts";
import { secretsOf } from "../wires/wire.ts";
import { newAttemptTimer } from "./attempt_timer.ts";
import { authorized } from "./authorize.ts";
import { type BodyReader, openBody } from "./body.ts";
import { connect, upstreamUrl } from "./connect.ts";
import { uncommitted } from "./deliver.ts";
import { candidateHeaders } from "./headers.ts";
import {
  type AttemptEvents,
  hasStops,
  isCancelled,
  isCounted,
  isTooLarge,
  type LateReading,
  NEVER,
  NO_FAILOVER,
  type OpenAttempt,
  reportCounts,
} from "./open_attempt.ts";
import { readBytes } from "./read_bytes.ts";
import { readStream } from "./read_stream.ts";
import { readWhole } from "./read_whole.ts";
import { errorBytes, redactedFailure, rejection } from "./rejection.ts";
import { contentType, isDelimited, isSuccess } from "./response_head.ts";

/**
 * Makes one attempt: sends the request, expects status 200, and reads the whole response or the
 * first content of a stream.
 */
export async function open(
  call: Call,
  candidate: Candidate,
  events: AttemptEvents,
): Promise<Result<Reply>> {
  const { world, report, turns, client: { privacy } } = call;
  const { onFirstByte, span = null } = events;
  const { provider, wire, failover: { firstContentMs, fallbackOn } = NO_FAILOVER } =
    candidate.target;
  // Of thinking, only what another protocol has brought can be changed.
  if (privacy !== null) privacy.answer.isThinkingSigned = wire.name === "messages";
  // The request is written in one piece too.
  const turn = turnForRequest(call);
  const stopped = turn === null ? null : await awaitTurn(call, turn);
  if (stopped !== null) return stopped;
  if (privacy !== null) await storeSentValues(call, privacy, candidate);
  const handler = candidate.responseHandler();
  // A stream that ends at a stop text has no final counts: its tokens are estimated for every
  // client.
  if (handler.kind === "stream" && hasStops(candidate)) call.client.meter ??= new Meter();
  const { meter } = call.client;
  const url = upstreamUrl(provider, candidate.request.path);
  let headers = candidateHeaders(call, candidate);
  if (candidate.target.account.credential !== null) {
    const unauthorized = { request: candidate.request, url, headers };
    const complete = await authorized(candidate.target, unauthorized, { world, turns });
    if (!complete.ok) return complete;
    headers = complete.value;
  }
  if (span !== null && call.generation.config.telemetry.propagate.includes(provider.id)) {
    headers = { ...headers, traceparent: span.traceparent };
  }
  const began = world.now();
  const late: LateReading = { isAwaited: NEVER };
  const timer = newAttemptTimer(world, call.cancellation, {
    timeoutMs: provider.settings.timeout,
    mode: provider.settings.timeout_mode,
    idleMs: provider.settings.stream_idle_timeout,
    ...onFirstByte !== undefined && { onFirstByte },
    ...meter !== null && { lingers: () => late.isAwaited() },
  });
  const attempt: OpenAttempt = {
    call,
    candidate,
    timer,
    memory: newResponseMemory(call, timer.stop),
    span,
    events,
    isCharged: isChargedKey(call.client.key) && candidate.billing !== "none",
    late,
  };
  if (handler.kind === "stream" || (handler.kind === "by_type" && report.stream)) {
    timer.awaitContent(firstContentMs);
  }
  let isDelivering = false;
  meter?.begin(candidate);
  try {
    const response = await connect(world, url, {
      request: candidate.request,
      headers,
      cancellation: timer.cancellation,
      transport: provider.transport,
      isRepeatable: !candidate.hasSideEffects,
      onRepeat: () => call.metrics.reconnected(provider.id),
      ...span !== null && { onSend: (body) => span.sent(candidate.request.path, body) },
    });
    if (!response.ok) {
      meter?.fail(null, isCancelled(attempt) && mayHaveRun(response.failure));
      return response;
    }
    span?.responded(response.value.status);
    const isRejected = !isSuccess(response.value.status, handler);
    const body = openBody(response.value, timer, { memory: attempt.memory, turns });
    const reply = isRejected
      ? await readRejection(attempt, response.value, body)
      : await readReply(attempt, response.value, body, handler);
    if (!reply.ok) {
      attempt.memory.end(errorBytes(reply.failure));
      meter?.fail(null, isCancelled(attempt) || isTooLarge(reply.failure));
      const failure = recognise(uncommitted(reply.failure), fallbackOn, isRejected);
      return failed(redactedFailure(failure, secretsOf(candidate.target)));
    }
    isDelivering = reply.value.kind !== "whole";
    return reply;
  } finally {
    report.ms.upstream += world.now() - began;
    if (!isDelivering) {
      timer.close();
      span?.settle();
    }
  }
}

async function readRejection(
  attempt: OpenAttempt,
  response: Incoming,
  body: BodyReader,
): Promise<Result<Reply>> {
  const reported = isCounted(attempt)
    ? (counts: () => Usage | null) => reportCounts(attempt, counts)
    : null;
  return await rejection(attempt.call, attempt.candidate.target, response, { body, reported });
}

/** Reads the response of a success. */
async function readReply(
  attempt: OpenAttempt,
  response: Incoming,
  body: BodyReader,
  handler: ResponseHandler,
): Promise<Result<Reply>> {
  const { timer, candidate: { target: { failover = NO_FAILOVER } } } = attempt;
  const isByType = handler.kind === "by_type";
  const chosen = isByType ? handler.choose(contentType(response), isDelimited(response)) : handler;
  if (chosen.kind === "stream") timer.awaitContent(failover.firstContentMs);
  else timer.contentArrived();
  if (chosen.kind === "bytes") return await readBytes(attempt, response, body, chosen.outcome);
  return chosen.kind === "stream"
    ? await readStream(attempt, response, body, chosen)
    : await readWhole(attempt, { response, body, handler: chosen, namesCoding: isByType });
}

/** False if the request was certainly not sent. */
function mayHaveRun(failure: Failure): boolean {
  return isRefusal(failure) || failure.mayHaveRun;
}
