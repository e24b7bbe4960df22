import { bugText } from "../core/failure/bug_text.ts";
import { parseJson } from "../core/json/json.ts";
import { type Failure, isRefusal } from "../core/failure/failure.ts";
import type { HeaderFields } from "../core/header_fields.ts";
import { charsOf, type Reply } from "../core/stream/reply.ts";
import type { Outcome } from "../core/stream/stream.ts";
import {
  failed,
  invalidResponse,
  responseTooLarge,
  type Result,
  success,
} from "../core/failure/result.ts";
import type { Incoming } from "../core/world.ts";
import type { Framing } from "../formats/framing.ts";
import { newNdjsonFraming } from "../formats/ndjson.ts";
import { newSseFraming } from "../formats/sse.ts";
import { utf8Text } from "../formats/utf8.ts";
import type { Usage } from "../core/stream/events.ts";
import type { AttemptSpan } from "../core/call_span.ts";
import type { Call } from "../call/call.ts";
import { awaitTurn } from "../call/call_turns.ts";
import type { Candidate, ResponseHandler } from "../call/inference.ts";
import { Meter } from "../access/meter.ts";
import { isChargedKey } from "../access/permissions.ts";
import { finishOutcome, storeSentValues, storeValuesOf } from "../redaction/finish_outcome.ts";
import { newResponseMemory } from "../traffic/call_memory.ts";
import { recognise } from "../wires/host_errors.ts";
import { hasLastOutput, reportedUsage } from "../wires/reported_usage.ts";
import { turnForText } from "../traffic/loop_turns.ts";
import { type Failover, secretsOf, type StreamDelivery, type Wire } from "../wires/wire.ts";
import { type AttemptTimer, newAttemptTimer } from "./attempt_timer.ts";
import { authorized } from "./authorize.ts";
import {
  type BodyReader,
  MAX_LATE_READ_MS,
  MAX_RESPONSE_BYTES,
  openBody,
  readAll,
} from "./body.ts";
import { connect, upstreamUrl } from "./connect.ts";
import { codingOf } from "./content_encoding.ts";
import { commitBytes } from "./deliver_bytes.ts";
import { commit, contentFiltered, TOO_MUCH_WAITING, uncommitted } from "./deliver.ts";
import type { Hold } from "./hold.ts";
import { candidateHeaders, clientResponseHeaders } from "./headers.ts";
import { type LargeCounts, newLargeCounts } from "./large_counts.ts";
import { isStreamEnd, newTextEnd, readCounts, withLatest } from "./late_counts.ts";
import { checkJson } from "./json_bounds.ts";
import { errorBytes, redactedFailure, rejection } from "./rejection.ts";
import { newRecordReader } from "./record_reader.ts";

/**
 * Time for a stream to end by itself after its last record, so that its connection can be reused.
 */
const STREAM_END_TIMEOUT_MS = 100;

/** Settings of a target that no route has. */
const NO_FAILOVER: Failover = { firstContentMs: null, contextSize: null, fallbackOn: [] };

/** End of a stream that is counted now. */
interface StreamEnd {
  readonly failure: Failure | null;
  /** True if the provider has ended the stream. */
  readonly isComplete: boolean;
  /** True if the rest of the stream is read for its counts. */
  readonly readsOn: boolean;
}

/** Events of one attempt. */
export interface AttemptEvents {
  /** Called when a stream ends, with null if it was complete. */
  onEnd(failure: Failure | null): void;
  /** Called when content of a stream has arrived before its delivery; absent if not needed. */
  onContent?(): void;
  /** Called with the first bytes of the response body; absent if their time is not needed. */
  onFirstByte?(): void;
  /** Span of the attempt; absent or null while spans are not exported. */
  readonly span?: AttemptSpan | null;
}

/**
 * Makes one attempt: sends the request, expects status 200, and reads the whole response or the
 * first content of a stream.
 */
export async function open(
  call: Call,
  candidate: Candidate,
  { onEnd, onContent, onFirstByte, span = null }: AttemptEvents,
): Promise<Result<Reply>> {
  const { world, report, cancellation, turns, client: { privacy }, state: { admission } } = call;
  const { provider, wire, failover = NO_FAILOVER } = candidate.target;
  // Of thinking, only what another protocol has brought can be changed.
  if (privacy !== null) privacy.answer.isThinkingSigned = wire.name === "messages";
  const { firstContentMs, fallbackOn } = failover;
  // A response that is stored at the provider is the client's, also if it is empty.
  const avoidsFilter = fallbackOn.includes("content_filter") && !candidate.hasSideEffects;
  // The request is written in one piece too.
  const turn = turnForText(turns, admission.bodyBytesOf(call.id), "large", cancellation);
  const stopped = turn === null ? null : await awaitTurn(call, turn);
  if (stopped !== null) return stopped;
  if (privacy !== null) await storeSentValues(call, privacy, candidate);
  const handler = candidate.responseHandler();
  // A stream that ends at a stop text has no final counts: its tokens are estimated for every
  // client.
  if (handler.kind === "stream" && hasStops(candidate)) call.client.meter ??= new Meter();
  const { meter } = call.client;
  const isCounted = meter !== null || span !== null;
  const isCharged = isChargedKey(call.client.key) && candidate.billing !== "none";
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
  let isLate: () => boolean = () => false;
  const timer = newAttemptTimer(world, call.cancellation, {
    timeoutMs: provider.settings.timeout,
    mode: provider.settings.timeout_mode,
    idleMs: provider.settings.stream_idle_timeout,
    ...onFirstByte !== undefined && { onFirstByte },
    ...meter !== null && { lingers: () => isLate() },
  });
  if (handler.kind === "stream" || (handler.kind === "by_type" && report.stream)) {
    timer.awaitContent(firstContentMs);
  }
  const memory = newResponseMemory(call, timer.stop);
  let isDelivering = false;
  let isRejected = false;
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
      meter?.fail(null, isCancelled() && mayHaveRun(response.failure));
      return response;
    }
    span?.responded(response.value.status);
    const body = openBody(response.value, timer, { memory, turns });
    const reply = await readReply(response.value, body);
    if (!reply.ok) {
      memory.end(errorBytes(reply.failure));
      meter?.fail(null, isCancelled() || isTooLarge(reply.failure));
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

  /** Returns the characters that rules of privacy hold back. */
  function searchedChars(): number {
    return privacy?.held.reduce((chars, held) => chars + held(), 0) ?? 0;
  }

  /** Sets the source of the counts that the provider has reported. */
  function reported(counts: () => Usage | null): void {
    meter?.stream(counts);
    span?.uses(counts);
  }

  /** Stores the outcome as the client receives it; a failure if a rule refuses it. */
  function storeFinished(outcome: Outcome): Promise<Result<void>> | null {
    return privacy === null ? candidate.onComplete(outcome) : finishAndStore(outcome);
  }

  async function finishAndStore(outcome: Outcome): Promise<Result<void>> {
    const finished = await finishOutcome(call, outcome, candidate);
    if (!finished.ok) return finished;
    return await candidate.onComplete(finished.value) ?? success(undefined);
  }

  function storeIdentity(identify: NonNullable<Candidate["identify"]>): typeof identify {
    return async (id) => {
      await storeValuesOf(call, id);
      return await identify(id);
    };
  }

  function isCancelled(): boolean {
    return call.cancellation.reason !== null;
  }

  /**
   * Counts what a whole response says that is too large to be parsed, or breaks off. The strings of
   * one that has no text, such as a ranking, are no output.
   */
  async function refuse(bytes: Uint8Array, body: BodyReader): Promise<void> {
    if (!isCounted) return;
    isLate = () => true;
    timer.linger();
    const { usage, textBytes } = await newLargeCounts(body)(bytes);
    reported(() => usage);
    const { operation } = report.endpoint;
    if (operation === "chat" || operation === "text_completion") meter?.refuse(textBytes);
  }

  async function readReply(response: Incoming, body: BodyReader): Promise<Result<Reply>> {
    if (!isSuccess(response.status, handler)) {
      isRejected = true;
      const counted = isCounted ? reported : null;
      return await rejection(call, candidate.target, response, { body, reported: counted });
    }
    const reader = handler.kind === "by_type"
      ? handler.choose(contentType(response), isDelimited(response))
      : handler;
    if (reader.kind === "stream") timer.awaitContent(firstContentMs);
    else timer.contentArrived();
    if (reader.kind === "bytes") return await readBytes(response, body, reader.outcome);
    if (reader.kind === "whole") {
      const { limit = MAX_RESPONSE_BYTES } = reader;
      // What is too large for the handler may have its counts at its end.
      let cancelLateRead = () => {};
      const bytes = await readAll(body, isCharged ? MAX_RESPONSE_BYTES : limit, {
        onBeginning: (beginning) => refuse(beginning, body),
        usualBytes: limit,
        onUnusual() {
          isLate = () => isCharged;
          timer.linger();
          cancelLateRead = world.after(MAX_LATE_READ_MS, body.end);
        },
      });
      cancelLateRead();
      if (!bytes.ok) return bytes;
      if (bytes.value.length > limit) {
        await refuse(bytes.value, body);
        return responseTooLarge("The provider's response is too large.");
      }
      memory.end(bytes.value.length);
      // A client that leaves from now on pays for the counts in it.
      isLate = () => isCharged;
      span?.receivedBody(bytes.value);
      const checked = checkJson(bytes.value, body.turn, reader.needed);
      const outline = checked instanceof Promise ? await checked : checked;
      if (!outline.ok) {
        await refuse(bytes.value, body);
        return outline;
      }
      const turn = outline.value === null ? body.turnToParse(bytes.value.length) : null;
      if (turn !== null) await turn;
      const read = reader.read({
        status: hasBody(response.status) ? response.status : 200,
        headers: () => ({
          ...clientResponseHeaders(response.headers, candidate.target),
          ...handler.kind === "by_type" && unknownCoding(response),
        }),
        body: bytes.value,
        ...outline.value !== null && { outline: outline.value },
      });
      if (!read.ok) {
        if (isCounted) {
          const value = outline.value?.value ?? parseJson(utf8Text(bytes.value) ?? "");
          const usage = reportedUsage(value);
          reported(() => usage);
        }
        return read;
      }
      const { response: whole, outcome } = read.value;
      reported(() => outcome.usage);
      if (avoidsFilter && outcome.isFiltered === true) return failed(contentFiltered());
      // The tokens of the upstream are billed even if the outcome cannot be stored.
      report.usage = outcome.usage;
      report.units = outcome.units ?? null;
      // A body that is not parsed for its members is not parsed for an estimate either.
      if (outcome.isFailed === true) meter?.fail(outcome.usage, false);
      else meter?.complete(outcome, outline.value === null ? whole.body : null);
      const storing = storeFinished(outcome);
      const stored = storing === null ? null : await storing;
      if (stored?.ok === false) return stored;
      const isPersonal = outcome.reasoning !== undefined;
      return success({ kind: "whole", response: whole, ...isPersonal && { isCacheable: false } });
    }
    const { translation } = reader;
    reported(() => translation.usage());
    let isCommitted = false;
    const source = newRecordReader(
      body,
      newFraming(wire),
      reader,
      span === null ? null : (records) => span.receivedRecords(records),
    );
    const textEnd = newTextEnd(candidate.textMember ?? wire.textMember);
    let isReadingOn = false;
    isLate = () => isCharged && (isReadingOn || textEnd.areCountsAwaited(translation.usage()));
    let sentChars = 0, waitingBytes = 0, holdBytes = 0;
    memory.measureBy(() =>
      source.heldChars() + Math.max(waitingBytes, translation.heldBytes?.() ?? 0) + sentChars +
      holdBytes + searchedChars()
    );
    if (privacy !== null) privacy.grown = memory.arrived;
    // The ID of a response that runs on in the background is stored before its end.
    const hold = candidate.identify === undefined ? candidate.target.delivery?.hold ?? null : null;
    const records = await commit({
      source,
      translation,
      onComplete(outcome) {
        report.usage = outcome.usage;
        report.units = outcome.units ?? null;
        return storeFinished(outcome);
      },
      onTranslated(sent, waiting) {
        sentChars = charsOf(sent);
        waitingBytes = waiting;
        memory.passed();
      },
      ...meter !== null && {
        onRead(read) {
          meter.read(read);
          if (isCharged) textEnd.read(read);
        },
      },
      onContent() {
        timer.contentArrived();
        onContent?.();
      },
      ...avoidsFilter && { isFiltered: () => translation.isFiltered?.() ?? false },
      ...candidate.identify !== undefined && { identify: storeIdentity(candidate.identify) },
      ...hold !== null && { hold: newHold(hold) },
      onBug(error) {
        report.bug = bugText(error);
      },
      async onEnd(failure) {
        const isUncounted = hasStops(candidate) && !hasLastOutput(translation.usage());
        // The gateway ends a stream at a stop text before the last record with its counts.
        const isComplete = failure === null &&
          !(isUncounted && !source.latest().some(isStreamEnd));
        if (isComplete) await awaitEnd(call, body, timer);
        const readsOn = failure === null
          ? !isComplete && isCharged
          : isLate() || (isCharged && isUnusable(failure, isCommitted));
        const ending = end({ failure, isComplete, readsOn });
        // The client has had the end of its response.
        if (readsOn && isCommitted) meter?.awaits(ending);
        else await ending;
      },
    });
    if (!records.ok) return records;
    isCommitted = true;

    /** Counts an attempt that ends, after the rest of its stream if that is read for its counts. */
    async function end({ failure, isComplete, readsOn }: StreamEnd): Promise<void> {
      let usage = translation.usage();
      let latest: LargeCounts | null = null;
      // The text of a record that is too large has not been counted.
      const countedChars = failure !== null && isTooLarge(failure) ? 0 : Infinity;
      if (readsOn) {
        isReadingOn = true;
        timer.linger();
        latest = await readCounts(
          usage,
          source,
          newLargeCounts(body),
          countedChars,
          // Behind a stop text the provider writes only because it is read on.
          (read) => failure === null || meter?.read(read),
        );
      } else if (meter !== null && (failure !== null || hasStops(candidate))) {
        latest = await withLatest(usage, source, newLargeCounts(body), countedChars);
      }
      if (latest !== null) {
        usage = latest.usage;
        meter?.refuse(latest.textBytes);
      }
      if (!isComplete || latest !== null) span?.uses(() => usage);
      if (!isComplete) await body.cancel();
      span?.settle();
      source.forget();
      memory.end(sentChars + searchedChars());
      timer.close();
      // A failure before the commit may be retried: its usage counts only if the call was
      // cancelled. The provider bills what it has sent of a held stream.
      const isLast = isCommitted || isCancelled();
      if ((failure !== null || latest !== null) && isLast) report.usage = usage;
      const outcome: Pick<Outcome, "usage" | "units" | "isFailed"> = translation.outcome() ??
        { usage: null };
      if (failure === null && outcome.isFailed === true) meter?.fail(usage, false);
      else if (isComplete) meter?.complete(latest === null ? outcome : { ...outcome, usage });
      else {
        const isAnswer = failure === null || isLast || holdBytes > 0 || isTooLarge(failure);
        meter?.fail(usage, isAnswer);
      }
      onEnd(failure === null ? null : redactedFailure(failure, secretsOf(candidate.target)));
    }

    function newHold({ ms, maxBytes }: NonNullable<StreamDelivery["hold"]>): Hold {
      return {
        maxBytes,
        begin(release) {
          if (call.state.admission.isResponseMemoryFull()) release();
          memory.releaseBy(release);
          const cancelTimer = world.after(ms, release);
          return () => {
            memory.releaseBy(null);
            cancelTimer();
          };
        },
        onHeld(bytes) {
          holdBytes = bytes;
        },
        onDelivery(state) {
          report.held = state;
          [sentChars, holdBytes] = [holdBytes, 0];
        },
        onTaken() {
          sentChars = 0;
          memory.passed();
        },
      };
    }

    const copied = reader.copiesHeaders
      ? clientResponseHeaders(response.headers, candidate.target)
      : {};
    const { keepAlive, number } = translation;
    return success({
      kind: "stream",
      ...reader.copiesStatus === true && { status: response.status },
      headers: copied,
      ...keepAlive !== undefined && { keepAlive },
      fail(failure) {
        const terminal = translation.fail(failure);
        return number === undefined ? terminal : number(terminal);
      },
      records: records.value,
    });
  }

  async function readBytes(
    response: Incoming,
    body: BodyReader,
    outcome: Outcome,
  ): Promise<Result<Reply>> {
    const { usage, units } = outcome;
    // A range of compressed bytes cannot be decompressed.
    if (response.status === 206 && codingOf(response.headers.get("content-encoding")) === "known") {
      await body.cancel();
      return invalidResponse("The provider has compressed a part of a file.");
    }
    const pieces = await commitBytes(body, async (failure) => {
      if (failure !== null) await body.cancel();
      timer.close();
      span?.uses(() => usage);
      span?.settle();
      if (failure === null) {
        report.usage = usage;
        report.units = units ?? null;
        meter?.complete(outcome);
      } else meter?.fail(null, isDelivering || isCancelled());
      onEnd(failure === null ? null : redactedFailure(failure, secretsOf(candidate.target)));
    });
    if (!pieces.ok) return pieces;
    const headers = {
      ...clientResponseHeaders(response.headers, candidate.target),
      ...unknownCoding(response),
      ...unchangedLength(response),
    };
    return success({ kind: "bytes", status: response.status, headers, pieces: pieces.value });
  }
}

/** True if the gateway ends the response at stop texts. */
function hasStops({ request: { promises } }: Candidate): boolean {
  return promises?.some(({ kind }) => kind === "stop") ?? false;
}

/**
 * True if the provider continues after a stream that cannot be delivered, and then reports its
 * counts; also after an error in a stream that was delivered until then.
 */
function isUnusable(failure: Failure, isDelivered: boolean): boolean {
  const { kind } = failure;
  const isReported = isDelivered && !isRefusal(failure) && failure.upstream !== null;
  return isReported || kind === "promise_broken" || kind === "invalid_upstream_response" ||
    isTooLarge(failure);
}

/** True if the provider has answered with more than can be read, which it bills. */
function isTooLarge(failure: Failure): boolean {
  return failure.kind === "upstream_response_too_large" && failure !== TOO_MUCH_WAITING;
}

/** Returns the content type of a response in lower case, without parameters, or an empty text. */
function contentType({ headers }: Incoming): string {
  const [type = ""] = (headers.get("content-type") ?? "").split(";", 1);
  return type.trim().toLowerCase();
}

/** True if the body of a response has a length or a last chunk (RFC 9112, section 6.3). */
function isDelimited({ headers }: Incoming): boolean {
  return headers.get("content-length") !== null || headers.get("transfer-encoding") !== null;
}

/**
 * Returns the header of a coding that the gateway has not undone: without it, bytes look
 * uncompressed.
 */
function unknownCoding({ headers }: Incoming): HeaderFields {
  const coding = headers.get("content-encoding") ?? null;
  return coding === null || codingOf(coding) !== "unknown" ? {} : { "content-encoding": coding };
}

/** Returns the length of a body that is sent as it came: neither in chunks nor decompressed. */
function unchangedLength({ headers }: Incoming): HeaderFields {
  const length = headers.get("content-length") ?? "";
  const isChunked = (headers.get("transfer-encoding") ?? null) !== null;
  const isUnpacked = codingOf(headers.get("content-encoding")) === "known";
  return isChunked || isUnpacked || !/^\d{1,15}$/.test(length) ? {} : { "content-length": length };
}

/** False if the request was certainly not sent. */
function mayHaveRun(failure: Failure): boolean {
  return isRefusal(failure) || failure.mayHaveRun;
}

function isSuccess(status: number, reader: ResponseHandler): boolean {
  if (reader.kind === "by_type") return hasBody(status);
  if (reader.kind === "bytes") {
    return hasBody(status) || (status === 206 && reader.isRange === true);
  }
  const takesAny = reader.kind === "whole" && reader.takesAnySuccess === true;
  return status === 200 || (takesAny && status > 200 && status < 300);
}

/** True for a status of success with a body that is complete in itself (RFC 9110, section 15.3). */
function hasBody(status: number): boolean {
  return status >= 200 && status <= 203;
}

async function awaitEnd(
  call: Call,
  body: BodyReader,
  { cancellation }: AttemptTimer,
): Promise<void> {
  const cancel = call.world.after(STREAM_END_TIMEOUT_MS, () => cancellation.cancel(null));
  const rest = await body.read();
  cancel();
  if (rest.ok && rest.value !== null) await body.cancel();
}

function newFraming(wire: Wire): Framing {
  return wire.framing === "sse" ? newSseFraming() : newNdjsonFraming();
}
