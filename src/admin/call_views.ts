import {
  codeOf,
  type Failure,
  FAULTS,
  isRefusal,
  isServerFailure,
  logEndOf,
} from "../core/failure/failure.ts";
import { REFUSAL_DOCS } from "../core/failure/refusal_docs.ts";
import { textBeginning } from "../core/text_beginning.ts";
import { accessFields, roundedMs } from "../observe/access_log.ts";
import type { Fields } from "../observe/log.ts";
import { type Attempt, type CallReport, type TracedTarget, wasSent } from "../observe/report.ts";
import type { CallOutcome, FinishedCall, RunningCall } from "./snapshot.ts";

/** Maximum number of running calls in a snapshot. */
const MAX_RUNNING = 50;

/** Returns the newest running calls, newest first. `nowMs` is the monotonic time. */
export function runningViews(
  reports: Iterable<Readonly<CallReport>>,
  count: number,
  nowMs: number,
): readonly RunningCall[] {
  const newest = Iterator.from(reports).drop(Math.max(0, count - MAX_RUNNING)).toArray();
  return newest.reverse().map((report) => runningView(report, nowMs));
}

function runningView(report: Readonly<CallReport>, nowMs: number): RunningCall {
  return {
    id: report.id,
    path: boundedText(report.path),
    client: report.client,
    route: report.route,
    provider: report.provider,
    model: bounded(report.model ?? report.trace?.requestedModel ?? null),
    ageMs: Math.round(nowMs - report.began),
    phase: isStreaming(report) ? "streaming" : "waiting",
    records: report.trace?.records ?? 0,
    tries: report.attempts.filter(wasSent).length,
  };
}

/** True if the call delivers a stream. */
export function isStreaming({ ms, stream }: Readonly<CallReport>): boolean {
  // Signs of life are no stream yet.
  const isEarly = ms.earlyHead !== null && ms.firstToken === null;
  return stream && ms.firstByte !== null && !isEarly;
}

/**
 * Returns a finished call with its timeline. It holds nothing whose size a client or provider
 * chooses.
 */
export function finishedView(
  number: number,
  endedAtMs: number,
  report: Readonly<CallReport>,
  isSlow = false,
): FinishedCall {
  const { failure, trace, ms } = report;
  const requested = trace?.requestedModel ?? null;
  return {
    number,
    endedAtMs,
    access: accessView(report),
    outcome: outcomeOf(report),
    ...failure !== null && { code: codeOf(failure) },
    ...isSlow && { isSlow },
    ...requested !== null && requested !== report.model &&
      { requestedModel: boundedText(requested) },
    failure: failure === null ? null : boundedText(failureText(failure)),
    targets: listedTargets(trace?.targets ?? [], report.attempts).map((target) => ({
      ...target,
      model: bounded(target.model),
      skipped: bounded(target.skipped),
    })),
    attempts: attemptsOf(report).slice(-MAX_LISTED).map((attempt) => ({
      provider: attempt.provider,
      model: boundedText(attempt.model),
      key: attempt.key,
      outcome: attempt.outcome,
      ...!wasSent(attempt) && { notSent: true as const },
      beganMs: roundedMs(attempt.began),
      endedMs: roundedMs(endOf(attempt, report)),
    })),
    verified: report.verified.slice(0, MAX_LISTED).map(boundedText),
    lossy: report.lossy.slice(0, MAX_LISTED).map(boundedText),
    ...report.privacy !== null && { searchMs: roundedMs(report.privacy.searchMs) },
    usd: report.cost,
    firstByteMs: roundedMs(ms.firstByte),
    firstTokenMs: roundedMs(ms.firstToken),
    totalMs: roundedMs(ms.total),
  };
}

/**
 * Returns the targets that are listed, in the order of the route: those that were used, and the
 * first others.
 */
function listedTargets(
  targets: readonly TracedTarget[],
  attempts: readonly Attempt[],
): readonly TracedTarget[] {
  if (targets.length <= MAX_LISTED) return targets;
  const isUsed = ({ isChosen, provider, model }: TracedTarget) =>
    isChosen || attempts.some((one) => one.provider === provider && one.model === model);
  const used = new Set(targets.filter(isUsed).slice(0, MAX_LISTED));
  let others = MAX_LISTED - used.size;
  return targets.filter((target) => used.has(target) || others-- > 0);
}

/**
 * Returns the end of an attempt. One that delivered a stream ends with the call: the report has its
 * first byte.
 */
function endOf(attempt: Readonly<Attempt>, { attempts, stream, ms }: Readonly<CallReport>): number {
  const isDelivery = stream && attempt.outcome === "success" && attempt === attempts.at(-1);
  return isDelivery ? ms.total ?? attempt.ended : attempt.ended;
}

/**
 * Returns the attempts of a finished call. The report has an attempt whose stream began as a
 * success: if the provider broke that stream afterwards, the attempt has that outcome, and ends
 * with the call.
 */
export function attemptsOf(report: Readonly<CallReport>): readonly Readonly<Attempt>[] {
  const { attempts, brokeOff, failure, ms } = report;
  const last = attempts.at(-1);
  if (!brokeOff || failure === null || last?.outcome !== "success") return attempts;
  if (failure.kind !== "promise_broken" && !isServerFailure(failure)) return attempts;
  return [...attempts.slice(0, -1), {
    ...last,
    outcome: failure.kind,
    ended: ms.total ?? last.ended,
  }];
}

/**
 * Returns what a failure means. Messages of refusals may quote a value of the request, so the
 * description of their kind replaces them, with the path of the field.
 */
function failureText(failure: Failure): string {
  if (!isRefusal(failure)) return `${failure.kind}: ${failure.message}`;
  const { kind, at } = failure;
  const cause = REFUSAL_DOCS[kind].cause.replaceAll("`", "");
  return `${at === null ? kind : `${kind} at ${at}`}: ${cause}`;
}

/** Returns the fields that an access line would have. */
function accessView(
  report: Readonly<CallReport>,
): Readonly<Record<string, string | number | boolean>> {
  const fields: Fields = report.keyLabels === null
    ? accessFields(report)
    : { ...accessFields(report), ...report.keyLabels };
  const view: Record<string, string | number | boolean> = {};
  // Every finished call passes here, and Object.entries would cost as much as all the rest.
  for (const name in fields) {
    const value = fields[name];
    if (value === null || value === undefined) continue;
    view[name] = typeof value === "string" ? boundedText(value) : value;
  }
  return view;
}

function bounded(text: string | null): string | null {
  return text === null ? null : boundedText(text);
}

/** Maximum length of a text of a snapshot that clients can choose, such as a model or a path. */
const MAX_TEXT_CHARS = 300;

/**
 * Returns a text that clients or providers may have chosen, cut to a bound, without lone
 * surrogates.
 */
function boundedText(text: string): string {
  const beginning = textBeginning(text, MAX_TEXT_CHARS);
  return text.length > MAX_TEXT_CHARS ? `${beginning}…` : beginning;
}

/** Maximum number of field paths and attempts of a call in a snapshot. */
const MAX_LISTED = 50;

/** Returns what became of a finished call. */
function outcomeOf(
  { failure, attempts }: Pick<CallReport, "failure" | "attempts">,
): CallOutcome {
  if (failure === null) return "complete";
  if (isRefusal(failure)) return "refused";
  if (FAULTS[failure.kind].byClient) return "left";
  if (!wasSent({ outcome: failure.kind })) return attempts.some(wasSent) ? "failed" : "not_sent";
  return logEndOf(failure) === "refused" ? "refused" : "failed";
}

/** Returns why a call is stored longer than others; null for a call that is not. */
export function markOf(
  { outcome, isSlow }: Pick<FinishedCall, "outcome" | "isSlow">,
): "failed" | "not_sent" | "refused" | "slow" | null {
  if (outcome === "complete" || outcome === "left") return isSlow ? "slow" : null;
  return outcome;
}
