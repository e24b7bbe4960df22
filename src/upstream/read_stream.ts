import type { StreamHandler } from "../call/inference.ts";
import { bugText } from "../core/failure/bug_text.ts";
import type { Failure } from "../core/failure/failure.ts";
import { type Result, success } from "../core/failure/result.ts";
import type { Incoming } from "../core/world.ts";
import type { Usage } from "../core/stream/events.ts";
import { charsOf, type Reply } from "../core/stream/reply.ts";
import type { Outcome } from "../core/stream/stream.ts";
import type { Framing } from "../formats/framing.ts";
import { newNdjsonFraming } from "../formats/ndjson.ts";
import { newSseFraming } from "../formats/sse.ts";
import { storeValuesOf } from "../redaction/finish_outcome.ts";
import { hasLastOutput } from "../wires/reported_usage.ts";
import type { StreamDelivery, Wire } from "../wires/wire.ts";
import type { BodyReader } from "./body.ts";
import { commit } from "./deliver.ts";
import { clientResponseHeaders } from "./headers.ts";
import type { Hold } from "./hold.ts";
import { type LargeCounts, newLargeCounts } from "./large_counts.ts";
import { isStreamEnd, newTextEnd, readCounts, withLatest } from "./late_counts.ts";
import {
  ALWAYS,
  avoidsFilter,
  hasStops,
  isCancelled,
  isTooLarge,
  isUnusable,
  type OpenAttempt,
  reportCounts,
  reportEnd,
  storeFinished,
} from "./open_attempt.ts";
import { newRecordReader } from "./record_reader.ts";

/**
 * Time for a stream to end by itself after its last record, so that its connection can be reused.
 */
const STREAM_END_TIMEOUT_MS = 100;

/** End of a stream that is counted now. */
interface StreamEnd {
  readonly failure: Failure | null;
  /** True if the provider has ended the stream. */
  readonly isComplete: boolean;
  /** True if the rest of the stream is read for its counts. */
  readonly readsOn: boolean;
}

/**
 * Reads a stream to its first content; its records are read and translated as the client takes
 * them.
 */
export async function readStream(
  attempt: OpenAttempt,
  response: Incoming,
  body: BodyReader,
  handler: StreamHandler,
): Promise<Result<Reply>> {
  const { call, candidate, timer, memory, span, isCharged, events: { onContent } } = attempt;
  const { client: { meter, privacy }, report, world } = call;
  const { wire, delivery } = candidate.target;
  const { translation } = handler;
  reportCounts(attempt, () => translation.usage());
  let isCommitted = false;
  const source = newRecordReader(
    body,
    newFraming(wire),
    handler,
    span === null ? null : (records) => span.receivedRecords(records),
  );
  const textEnd = newTextEnd(candidate.textMember ?? wire.textMember);
  if (isCharged) attempt.late.isAwaited = areCountsAwaited(textEnd, translation);
  let sentChars = 0, waitingBytes = 0, holdBytes = 0;
  memory.measureBy(() =>
    source.heldChars() + Math.max(waitingBytes, translation.heldBytes?.() ?? 0) + sentChars +
    holdBytes + searchedChars()
  );
  if (privacy !== null) privacy.grown = memory.arrived;
  // The ID of a response that runs on in the background is stored before its end.
  const hold = candidate.identify === undefined ? delivery?.hold ?? null : null;
  const records = await commit({
    source,
    translation,
    onComplete(outcome) {
      report.usage = outcome.usage;
      report.units = outcome.units ?? null;
      return storeFinished(attempt, outcome);
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
    ...avoidsFilter(candidate) && { isFiltered: () => translation.isFiltered?.() ?? false },
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
      if (isComplete) await awaitEnd(attempt, body);
      const readsOn = failure === null
        ? !isComplete && isCharged
        : attempt.late.isAwaited() || (isCharged && isUnusable(failure, isCommitted));
      const ending = end({ failure, isComplete, readsOn });
      // The client has had the end of its response.
      if (readsOn && isCommitted) meter?.awaits(ending);
      else await ending;
    },
  });
  if (!records.ok) return records;
  isCommitted = true;
  const { keepAlive, number } = translation;
  return success({
    kind: "stream",
    ...handler.copiesStatus === true && { status: response.status },
    headers: handler.copiesHeaders ? clientResponseHeaders(response.headers, candidate.target) : {},
    ...keepAlive !== undefined && { keepAlive },
    fail(failure) {
      const terminal = translation.fail(failure);
      return number === undefined ? terminal : number(terminal);
    },
    records: records.value,
  });

  /** Returns the characters that rules of privacy hold back. */
  function searchedChars(): number {
    return privacy?.held.reduce((chars, held) => chars + held(), 0) ?? 0;
  }

  function storeIdentity(identify: (id: string) => Promise<Result<void>>): typeof identify {
    return async (id) => {
      await storeValuesOf(call, id);
      return await identify(id);
    };
  }

  /** Counts an attempt that ends, after the rest of its stream if that is read for its counts. */
  async function end({ failure, isComplete, readsOn }: StreamEnd): Promise<void> {
    const known = translation.usage();
    const latest = await latestCounts(known, failure, readsOn);
    if (latest !== null) meter?.refuse(latest.textBytes);
    const usage = latest === null ? known : latest.usage;
    if (!isComplete || latest !== null) span?.uses(() => usage);
    if (!isComplete) await body.cancel();
    span?.settle();
    source.forget();
    memory.end(sentChars + searchedChars());
    timer.close();
    // A failure before the commit may be retried: its usage counts only if the call was
    // cancelled. The provider bills what it has sent of a held stream.
    const isLast = isCommitted || isCancelled(attempt);
    if ((failure !== null || latest !== null) && isLast) report.usage = usage;
    const outcome: Pick<Outcome, "usage" | "units" | "isFailed"> = translation.outcome() ??
      { usage: null };
    if (failure === null && outcome.isFailed === true) meter?.fail(usage, false);
    else if (isComplete) meter?.complete(latest === null ? outcome : { ...outcome, usage });
    else {
      const isAnswer = failure === null || isLast || holdBytes > 0 || isTooLarge(failure);
      meter?.fail(usage, isAnswer);
    }
    reportEnd(attempt, failure);
  }

  /** Adds the counts to the known ones that the translation has not; null if it has all. */
  async function latestCounts(
    known: Usage | null,
    failure: Failure | null,
    readsOn: boolean,
  ): Promise<LargeCounts | null> {
    // The text of a record that is too large has not been counted.
    const countedChars = failure !== null && isTooLarge(failure) ? 0 : Infinity;
    if (readsOn) {
      attempt.late.isAwaited = ALWAYS;
      timer.linger();
      return await readCounts(
        known,
        source,
        newLargeCounts(body),
        countedChars,
        // Behind a stop text the provider writes only because it is read on.
        (read) => failure === null || meter?.read(read),
      );
    }
    if (meter === null || (failure === null && !hasStops(candidate))) return null;
    return await withLatest(known, source, newLargeCounts(body), countedChars);
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
}

/** True while the counts of a stream follow its text; apart from what else reads the stream. */
function areCountsAwaited(
  textEnd: ReturnType<typeof newTextEnd>,
  translation: StreamHandler["translation"],
): () => boolean {
  return () => textEnd.areCountsAwaited(translation.usage());
}

async function awaitEnd({ call, timer }: OpenAttempt, body: BodyReader): Promise<void> {
  const cancel = call.world.after(STREAM_END_TIMEOUT_MS, () => timer.cancellation.cancel(null));
  const rest = await body.read();
  cancel();
  if (rest.ok && rest.value !== null) await body.cancel();
}

function newFraming(wire: Wire): Framing {
  return wire.framing === "sse" ? newSseFraming() : newNdjsonFraming();
}
