import { type Fault, FAULTS } from "../core/failure/failure.ts";
import { type Failed, type Result, success } from "../core/failure/result.ts";
import { newPrivacyCounts } from "../core/privacy_counts.ts";
import {
  charsOf,
  type HttpResponse,
  type Reply,
  type StreamRecord,
  type StreamReply,
} from "../core/stream/reply.ts";
import { codedMessage, responseError } from "../api/responses/generate/error_code.ts";
import type { Call } from "../call/call.ts";
import { paceOf } from "../call/privacy.ts";
import { knownTokens, listedIds, recall, recallPath } from "../call/stored_values.ts";
import { refuseAnswer } from "../call/finish_outcome.ts";
import { parseProblem } from "../formats/parse_limits.ts";
import { utf8Steps, utf8TextSteps } from "../formats/utf8.ts";
import { type AnswerText, newRuleText, newTokenText } from "../privacy/answer_text.ts";
import { finishDocument, finishSteps, isJsonText } from "../privacy/finish.ts";
import { atPace } from "../privacy/pace.ts";
import { tokenMayBeIn } from "../privacy/restore.ts";
import { type Searched, searchStream } from "../privacy/restore_stream.ts";
import { stopRecords } from "../privacy/stop_records.ts";
import type { CallPrivacy } from "../privacy/types.ts";
import { internalError } from "./internal_error.ts";
import { captureContent, failureReply } from "./respond.ts";

/** An answer as the client gets it, and what it is for the report of its call. */
export interface FinishedAnswer {
  readonly made: Result<Reply>;
  readonly reply: Reply;
}

/** Events before the first text of a stream that wait for the decision whether it is refused. */
const MAX_OPENING_GROUPS = 64;

/**
 * Returns the answer to a call with a privacy policy: response rules search the text of the
 * provider, then it is captured, then the values of the request come back. An object that the
 * gateway stores has them already.
 */
export async function finishAnswer(
  call: Call,
  privacy: CallPrivacy,
  made: Result<Reply>,
): Promise<FinishedAnswer> {
  const reply = made.ok ? made.value : failureReply(call, made.failure);
  if (reply.kind === "stored" || reply.kind === "bytes") return { made, reply };
  if (reply.kind === "whole" && !isOfProvider(call)) return { made, reply };
  const { policy: { response }, counts } = privacy;
  try {
    await recallPath(call, privacy);
    const problemOf = newProblemOf(call);
    if (reply.kind === "whole") await recallList(call, privacy, reply.response, problemOf);
    const tokens = knownTokens(privacy);
    const finishWhole = newFinishWhole(call, privacy, problemOf);
    const ruled = response.length === 0
      ? success(reply)
      : reply.kind === "whole"
      ? await applyToWhole(call, newRuleText(response, counts), reply, finishWhole)
      : await applyToStream(call, privacy, newRuleText(response, counts), reply);
    if (!ruled.ok) return refused(call, ruled);
    const captured = captureContent(call, ruled.value);
    const answer = newTokenText(tokens, counts);
    const restored = captured.kind === "whole"
      ? { ...captured, response: await finishWhole(captured.response, answer) }
      : tokens.size === 0 && privacy.answer.documents === undefined
      ? captured
      : streamOf(captured, newSearch(call, privacy, answer, captured).stream);
    // What was stored before with tokens whose values are not known any more.
    if (restored.kind === "whole" && call.method === "GET") counts.unrestored = counts.unknown;
    return { made: made.ok ? success(restored) : made, reply: restored };
  } catch (error) {
    return refused(call, internalError(call, error));
  }
}

/** True if a whole reply is that of a provider: what the gateway itself says has values already. */
export function isOfProvider({ report: { attempts, cache } }: Call): boolean {
  return attempts.length > 0 || cache === "HIT";
}

/** Finds the values of the objects of a list, such as one of several accounts. */
async function recallList(
  call: Call,
  privacy: CallPrivacy,
  { body }: HttpResponse,
  problemOf: ProblemOf,
): Promise<void> {
  if (call.method !== "GET") return;
  const pace = paceOf(call);
  const text = await atPace(pace, utf8TextSteps(body));
  if (text === null || !(await atPace(pace, tokenMayBeIn(text)))) return;
  if (!isJsonText(text, await problemOf(body))) return;
  await recall(call, privacy, await atPace(pace, listedIds(text)));
}

/** Returns the events of a turn over a WebSocket, finished like any other answer. */
export async function finishTurn(
  call: Call,
  privacy: CallPrivacy,
  made: Result<StreamReply>,
): Promise<Result<StreamReply>> {
  const { made: finished, reply } = await finishAnswer(call, privacy, made);
  if (!finished.ok) return finished;
  return reply.kind === "stream" ? success(reply) : made;
}

/**
 * Returns the error event of a turn that `finishTurn` has counted: what the provider has written in
 * it is searched too.
 */
export function finishError(privacy: CallPrivacy, text: string): string {
  const { policy, answer } = privacy;
  const counts = newPrivacyCounts();
  const ruled = finishDocument(newRuleText(policy.response, counts), text, answer);
  return finishDocument(newTokenText(knownTokens(privacy), counts), ruled, answer);
}

function refused(call: Call, failed: Failed): FinishedAnswer {
  return { made: failed, reply: failureReply(call, failed.failure) };
}

type WholeReply = Extract<Reply, { readonly kind: "whole" }>;

async function applyToWhole(
  call: Call,
  rules: AnswerText,
  reply: WholeReply,
  finishWhole: FinishWhole,
): Promise<Result<WholeReply>> {
  const response = await finishWhole(reply.response, rules);
  return rules.isRefused() ? refuseAnswer(call) : success({ ...reply, response });
}

async function applyToStream(
  call: Call,
  privacy: CallPrivacy,
  rules: AnswerText,
  reply: StreamReply,
): Promise<Result<StreamReply>> {
  const search = newSearch(call, privacy, rules, reply);
  // An early head has the status already, so its signs of life do not wait for the first text.
  if (call.report.ms.earlyHead !== null) return success(streamOf(reply, search.stream));
  const first = await search.begin();
  return first.ok ? success(streamOf(reply, search.stream, first.value)) : first;
}

/** Returns why the text of a whole answer is not parsed. */
type ProblemOf = (body: Uint8Array) => ReturnType<typeof parseProblem>;

/** Returns what scans a whole answer once: a search changes only strings in it. */
function newProblemOf(call: Call): ProblemOf {
  let problem: ReturnType<typeof parseProblem> | null = null;
  const pace = paceOf(call);
  return (body) => problem ??= parseProblem(body, () => pace.next());
}

/** Returns a whole answer after a search. */
type FinishWhole = (response: HttpResponse, answer: AnswerText) => Promise<HttpResponse>;

/** Returns what searches the whole answer to a call, once for its rules and once for its tokens. */
function newFinishWhole(call: Call, privacy: CallPrivacy, problemOf: ProblemOf): FinishWhole {
  return async (response, answer) => {
    const pace = paceOf(call);
    const text = await atPace(pace, utf8TextSteps(response.body));
    // Bytes such as those of speech are not searched, so they need no scan either.
    if (text === null) return response;
    const problem = await problemOf(response.body);
    const steps = finishSteps(answer, text, privacy.answer, problem);
    const finished = await atPace(pace, steps);
    if (finished === text) return response;
    return { ...response, body: await atPace(pace, utf8Steps(finished)) };
  };
}

/** Returns the search of a stream, which ends the attempt if it stops the stream. */
function newSearch(
  call: Call,
  privacy: CallPrivacy,
  answer: AnswerText,
  reply: StreamReply,
) {
  let failure: Fault | null = null;
  let isBegun = true;
  /** Events up to the first text that are not passed on yet. */
  const opening: Searched[] = [];
  const stream = searchStream(reply, answer, privacy.answer, {
    stop(error, group) {
      failure = (error === null ? refuseAnswer(call) : internalError(call, error)).failure;
      call.cancellation.cancel(failure);
      if (!isBegun) return [];
      const { message, kind: code } = failure;
      const reason = {
        message,
        type: FAULTS[code].type,
        code,
        failed: endsByCode(call)
          ? responseError(failure, codedMessage(failure))
          : { code, message },
      };
      const terminal = reply.fail?.(failure) ?? [];
      // A stream that has failed already has its only terminal in the group.
      const records = stopRecords(terminal.length > 0 ? terminal : group, reason);
      return error === null ? withoutMatches(records, privacy) : records;
    },
    pace: () => paceOf(call),
    stopped() {
      if (!isBegun) return;
      call.report.failure = failure;
      call.report.brokeOff = true;
    },
  });
  privacy.held.push(() =>
    opening.reduce((chars, { records }) => chars + charsOf(records), stream.heldChars())
  );

  return {
    stream,
    /**
     * Returns the events up to the first text, which are taken out of the list as they are passed
     * on; the failure if the answer is refused there.
     */
    async begin(): Promise<Result<Searched[]>> {
      isBegun = false;
      while (opening.length < MAX_OPENING_GROUPS) {
        const next = await stream.groups.next();
        if (failure !== null) {
          // Ends the attempt before the response is written.
          while ((await stream.groups.next()).done !== true) { /* dropped */ }
          call.report.brokeOff = false;
          return { ok: false, failure };
        }
        if (next.done === true) break;
        opening.push(next.value);
        if (next.value.hasText) break;
      }
      isBegun = true;
      return success(opening);
    },
  };
}

/**
 * True for a client that repeats a response that failed with a code it does not know: each time is
 * charged. After an early head the codes are those of its closed list in any case.
 */
function endsByCode({ client, report }: Call): boolean {
  return client.session?.from === "codex" || report.ms.earlyHead !== null;
}

/** Returns the terminal of a refused answer, which may repeat members of its earlier events. */
function withoutMatches(
  records: readonly StreamRecord[],
  { policy, answer: form }: CallPrivacy,
): readonly StreamRecord[] {
  const masks = policy.response.map((rule) => ({ ...rule, action: "mask" as const }));
  const answer = newRuleText(masks, newPrivacyCounts());
  return records.map((record) => {
    const data = finishDocument(answer, record.data, form);
    return data === record.data ? record : { ...record, data, raw: null };
  });
}

function streamOf(
  reply: StreamReply,
  { groups, keepAlive }: ReturnType<typeof newSearch>["stream"],
  first: Searched[] = [],
): StreamReply {
  return {
    ...reply,
    ...keepAlive !== undefined && { keepAlive },
    records: recordsOf(first, groups),
  };
}

async function* recordsOf(
  first: Searched[],
  rest: AsyncIterable<Searched>,
): AsyncGenerator<readonly StreamRecord[], void, void> {
  for (let next = first.shift(); next !== undefined; next = first.shift()) yield next.records;
  for await (const { records } of rest) yield records;
}
