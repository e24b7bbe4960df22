import { wasServed } from "../observe/report.ts";
import { type Fault, FAULTS } from "../core/failure/failure.ts";
import { type Failed, type Result, success } from "../core/failure/result.ts";
import { isObject, isTooDeep, type JsonObject, parseJson } from "../core/json/json.ts";
import {
  charsOf,
  type HttpResponse,
  type Reply,
  type StreamRecord,
  type StreamReply,
} from "../core/stream/reply.ts";
import { codedMessage, responseError } from "../api/responses/generate/error_code.ts";
import type { Call } from "../call/call.ts";
import { paceOf } from "../redaction/request.ts";
import { knownTokens, listedIds, recallListed, recallPath } from "../redaction/stored_values.ts";
import { refuseAnswer } from "../redaction/finish_outcome.ts";
import { refuseOverloaded } from "../traffic/call_memory.ts";
import { parseProblem } from "../formats/parse_limits.ts";
import {
  oddBytesSteps,
  oddTextSteps,
  utf8Steps,
  utf8Text,
  utf8TextSteps,
} from "../formats/utf8.ts";
import { type AnswerText, newMaskText, newRuleText, newTokenText } from "../privacy/answer_text.ts";
import { finishDocument, finishSteps, isJsonText } from "../privacy/finish.ts";
import { atPace } from "../core/at_once.ts";
import { tokenMayBeIn } from "../privacy/restore.ts";
import { type Searched, searchStream } from "../privacy/restore_stream.ts";
import { recordsAfter, stopRecords } from "../privacy/stop_records.ts";
import type { CallPrivacy } from "../privacy/types.ts";
import { MIN_COUNTED_BYTES } from "../traffic/admission.ts";
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
 * gateway stores has them already; its own errors have none.
 */
export async function finishAnswer(
  call: Call,
  privacy: CallPrivacy,
  made: Result<Reply>,
): Promise<FinishedAnswer> {
  const reply = made.ok ? made.value : failureReply(call, made.failure);
  if (reply.kind === "stored" || reply.kind === "bytes") return { made, reply };
  if (reply.kind === "whole" && !wasServed(call.report)) {
    return { made, reply: made.ok ? reply : captureContent(call, reply) };
  }
  const { policy: { response }, counts } = privacy;
  try {
    await recallPath(call, privacy);
    const bodies = newBodies(call);
    if (reply.kind === "whole") await recallList(call, privacy, reply.response, bodies);
    const tokens = knownTokens(privacy);
    const finishWhole = newFinishWhole(call, privacy, bodies);
    const ruled = response.length === 0
      ? success(reply)
      : reply.kind === "whole"
      ? await applyToWhole(call, newRuleText(response, counts), reply, finishWhole)
      : await applyToStream(call, privacy, newRuleText(response, counts), reply);
    if (!ruled.ok) return refused(call, ruled);
    const captured = captureContent(call, ruled.value);
    const answer = captured.kind === "whole"
      ? newHeldText(call, newTokenText(tokens, counts), captured.response.body.length)
      : newTokenText(tokens, counts);
    const finished = captured.kind === "whole"
      ? { ...captured, response: await finishWhole(captured.response, answer) }
      : tokens.size === 0 && privacy.answer.documents === undefined
      ? captured
      : streamOf(captured, newSearch(call, privacy, answer, captured).stream);
    const { startsAfter } = privacy.answer;
    const restored = finished.kind === "whole" || startsAfter === undefined
      ? finished
      : { ...finished, records: restAfter(finished.records, startsAfter) };
    // What was stored before with tokens whose values are not known any more.
    if (restored.kind === "whole" && call.method === "GET") counts.unrestored = counts.unknown;
    return { made: made.ok ? success(restored) : made, reply: restored };
  } catch (error) {
    if (!(error instanceof FullMemory)) return refused(call, internalError(call, error));
    return refused(call, refuseOverloaded(call, "response_memory"));
  }
}

/** Thrown if there is no memory for the values of a whole answer. */
class FullMemory extends Error {}

/**
 * Returns a search that counts the text of its parts in the memory of responses, besides the bytes
 * that are held: values may be hundreds of times as long as their tokens, and many answers are made
 * at the same time.
 */
function newHeldText(
  { id, state: { admission } }: Call,
  answer: AnswerText,
  heldBytes: number,
): AnswerText {
  let [chars, counted] = [heldBytes, heldBytes];
  let isFull = false;
  return {
    ...answer,
    count(part, isRepetition) {
      answer.count(part, isRepetition);
      chars += part.text?.length ?? 0;
      if (chars - counted >= MIN_COUNTED_BYTES) {
        counted = chars;
        admission.holdGrowing(id, chars, () => isFull = true);
      }
      if (isFull) throw new FullMemory();
    },
  };
}

/** Finds the values of the objects of a list, such as one of several accounts. */
async function recallList(
  call: Call,
  privacy: CallPrivacy,
  { body }: HttpResponse,
  { textOf, problemOf }: Bodies,
): Promise<void> {
  if (call.method !== "GET") return;
  const pace = paceOf(call);
  const { text } = await textOf(body);
  if (!(await atPace(pace, tokenMayBeIn(text)))) return;
  if (!isJsonText(text, await problemOf(body))) return;
  await recallListed(call, privacy, await atPace(pace, listedIds(text)));
}

/** A turn over a WebSocket after a search. */
interface FinishedTurn {
  readonly made: Result<StreamReply>;
  /** The error of a failed turn as the client gets it; without members if it is too deep. */
  readonly error?: JsonObject;
}

/** Returns the events or the error of a turn over a WebSocket, finished like any other answer. */
export async function finishTurn(
  call: Call,
  privacy: CallPrivacy,
  answered: Result<StreamReply>,
): Promise<FinishedTurn> {
  const { made, reply } = await finishAnswer(call, privacy, answered);
  if (made.ok) return { made: reply.kind === "stream" ? success(reply) : answered };
  const body = reply.kind === "whole" ? parseJson(utf8Text(reply.response.body) ?? "") : undefined;
  const error = isObject(body) && isObject(body.error) && !isTooDeep(body.error) ? body.error : {};
  return { made, error };
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

/** The text of a whole answer. */
interface BodyText {
  readonly text: string;
  /** True if some of its bytes are no UTF-8: surrogates stand for them. */
  readonly isOdd: boolean;
}

/** Decoders and the scan of the bodies of one whole answer. */
interface Bodies {
  /** Returns the text of a body, which is decoded once. */
  textOf(body: Uint8Array): Promise<BodyText>;
  /** Returns the body of a text. */
  bodyOf(text: BodyText): Promise<Uint8Array<ArrayBuffer>>;
  /** Returns why they are not parsed, by one scan: a search changes only strings in them. */
  problemOf(body: Uint8Array): ReturnType<typeof parseProblem>;
}

function newBodies(call: Call): Bodies {
  let problem: ReturnType<typeof parseProblem> | null = null;
  const pace = paceOf(call);
  const texts = new WeakMap<Uint8Array, BodyText>();
  return {
    problemOf: (body) => problem ??= parseProblem(body, () => pace.next()),
    async textOf(body) {
      const known = texts.get(body);
      if (known !== undefined) return known;
      const text = await atPace(pace, utf8TextSteps(body));
      const decoded = {
        text: text ?? await atPace(pace, oddTextSteps(body)),
        isOdd: text === null,
      };
      texts.set(body, decoded);
      return decoded;
    },
    async bodyOf(text) {
      const encode = text.isOdd ? oddBytesSteps : utf8Steps;
      const body = await atPace(pace, encode(text.text));
      texts.set(body, text);
      return body;
    },
  };
}

/** Returns a whole answer after a search. */
type FinishWhole = (response: HttpResponse, answer: AnswerText) => Promise<HttpResponse>;

/** Returns what searches the whole answer to a call, once for its rules and once for its tokens. */
function newFinishWhole(
  call: Call,
  privacy: CallPrivacy,
  { textOf, bodyOf, problemOf }: Bodies,
): FinishWhole {
  return async (response, answer) => {
    const { text, isOdd } = await textOf(response.body);
    const problem = await problemOf(response.body);
    const steps = finishSteps(answer, text, privacy.answer, problem);
    const finished = await atPace(paceOf(call), steps);
    return finished === text
      ? response
      : { ...response, body: await bodyOf({ text: finished, isOdd }) };
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
    grown: (chars) => privacy.grown(chars),
    isCancelled: () => call.cancellation.reason !== null && !call.cancellation.isClientGone,
    ended() {
      const { reason } = call.cancellation;
      call.report.failure = reason;
      call.report.brokeOff = true;
      return reason === null ? [] : reply.fail?.(reason) ?? [];
    },
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
  const answer = newMaskText(policy.response);
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

/** Returns the events of a stream behind one that its client has had. */
async function* restAfter(groups: StreamReply["records"], number: number) {
  for await (const group of groups) {
    const rest = recordsAfter(group, number);
    if (rest.length > 0) yield rest;
  }
}

async function* recordsOf(
  first: Searched[],
  rest: AsyncGenerator<Searched, void, void>,
): AsyncGenerator<readonly StreamRecord[], void, void> {
  try {
    for (let next = first.shift(); next !== undefined; next = first.shift()) yield next.records;
    for await (const { records } of rest) yield records;
  } finally {
    // The client may leave before it has all that was read until the first text.
    await rest.return();
  }
}
