import type { Failure } from "../core/failure/failure.ts";
import { bugText } from "../core/failure/bug_text.ts";
import { internalFault, type Result, success } from "../core/failure/result.ts";
import type { KeepAlive, Reply, StreamRecord, StreamReply } from "../core/stream/reply.ts";
import type { Call } from "../call/call.ts";
import { gatewayComment } from "../observe/gateway_fields.ts";
import type { Candidate, Candidates, EarlyStream } from "../call/inference.ts";
import { runCandidates } from "./attempt.ts";

/**
 * Sends a call to its candidates like `runCandidates`. If none has responded `early_head` of the
 * route after the call began, the returned stream begins with signs of life; the attempts go on as
 * if it had not, and the stream ends with one terminal if none responds. `newEarly` is absent for a
 * call whose response never begins early.
 */
export function runWithEarlyHead(
  call: Call,
  candidates: Candidates,
  newEarly: (() => EarlyStream) | undefined,
): Promise<Result<Reply>> {
  const earlyHeadMs = candidates[0].target.delivery?.earlyHeadMs ?? null;
  return newEarly === undefined || earlyHeadMs === null
    ? runCandidates(call, candidates)
    : runBeginning(call, candidates, { newEarly, earlyHeadMs });
}

async function runBeginning(
  call: Call,
  candidates: Candidates,
  { newEarly, earlyHeadMs }: {
    readonly newEarly: () => EarlyStream;
    readonly earlyHeadMs: number;
  },
): Promise<Result<Reply>> {
  const { report, world } = call;
  let left: readonly Candidate[] = candidates;
  const running = runCandidates(call, candidates, (next) => void (left = next));
  const waiting = Promise.withResolvers<null>();
  const waitMs = earlyHeadMs - (world.now() - report.began);
  const cancelTimer = world.after(waitMs, () => waiting.resolve(null));
  const first = await Promise.race([running, waiting.promise]);
  cancelTimer();
  if (first !== null) return first;
  const early = newEarly();
  const opening = early.begin(left);
  if (opening === null || call.cancellation.isCancelled) return await running;
  report.ms.earlyHead = world.now() - report.began;
  const settled = running.catch((error): Result<Reply> => {
    report.bug = bugText(error);
    return internalFault();
  });
  return success(newEarlyReply(call, { early, opening, running: settled }));
}

/** A stream that begins before its response does. */
interface Begun {
  readonly early: EarlyStream;
  readonly opening: readonly StreamRecord[];
  readonly running: Promise<Result<Reply>>;
}

function newEarlyReply(
  { report, world, cancellation }: Call,
  { early, opening, running }: Begun,
): StreamReply {
  let keepAlive: KeepAlive | undefined = early.keepAlive;
  let fail: StreamReply["fail"];

  async function* records(): AsyncGenerator<readonly StreamRecord[], void, void> {
    let isTaken = false;
    try {
      yield opening;
      const reply = streamOf(await running);
      isTaken = true;
      if (!reply.ok) {
        keepAlive = undefined;
        yield* ending(reply.failure);
        return;
      }
      ({ keepAlive, fail } = reply.value);
      report.ms.firstToken = world.now() - report.began;
      let comment: StreamRecord[] = [gatewayComment(report)];
      for await (const group of reply.value.records) {
        yield [...comment, ...group];
        comment = [];
      }
    } finally {
      if (!isTaken) void running.then(closeUnread);
    }
  }

  function* ending(failure: Failure): Generator<readonly StreamRecord[], void, void> {
    report.failure = failure;
    // A client that has left reads no terminal.
    if (!cancellation.isClientGone) yield early.fail(failure);
  }

  return {
    kind: "stream",
    headers: {},
    keepAlive: () => keepAlive?.() ?? null,
    fail: (failure) => fail?.(failure) ?? early.fail(failure),
    records: records(),
  };
}

/** Returns a reply as a stream, which is the only one that can follow an early head. */
function streamOf(reply: Result<Reply>): Result<StreamReply> {
  if (!reply.ok) return reply;
  return reply.value.kind === "stream" ? success(reply.value) : internalFault();
}

/** Ends the stream of a response whose client has left before it arrived. */
async function closeUnread(reply: Result<Reply>): Promise<void> {
  if (!reply.ok || reply.value.kind !== "stream") return;
  const records = reply.value.records[Symbol.asyncIterator]();
  // A generator that has not begun would not run its end.
  await records.next();
  await records.return?.();
}
