import { type Result, success } from "../../core/failure/result.ts";
import type { World } from "../../core/world.ts";
import type { StoreLog } from "../store_dependencies.ts";
import { noRecordStats } from "../records/record_store.ts";
import { storeUnavailable } from "../store_failure.ts";
import { bytesOf } from "./bytes_of.ts";
import {
  type Link,
  LINK_LIMITS,
  type LinkLimits,
  type OperationName,
  type ParametersOf,
  type ResultOf,
} from "./link.ts";
import type { CallResult, Opening, WorkerReply } from "./messages.ts";
import type { Totals } from "./operation.ts";
import { openingProblem, operationProblem, type Problem } from "./problems.ts";
import { newCallQueue, type Outcome, type PendingCall } from "./queue.ts";
import { type StartThread, startThread, type Thread } from "./thread.ts";

/** Dependencies of a link. */
export interface LinkDependencies {
  readonly world: Pick<World, "after" | "wall">;
  readonly log: StoreLog;
  readonly start?: StartThread;
  readonly limits?: LinkLimits;
}

/** A link to an open database, or why there is none, as one sentence. */
export type OpenedLink =
  | { readonly ok: true; readonly link: Link }
  | { readonly ok: false; readonly problem: string };

type State =
  | { readonly kind: "opening" | "ready" | "late" | "closing"; readonly thread: Thread }
  | { readonly kind: "down" | "closed"; readonly thread: null };

const NO_TOTALS: Totals = { records: noRecordStats(), quotas: { entries: 0, bytes: 0 } };

/** Starts the thread of a database and opens the file. */
export function openLink(
  opening: Opening,
  { world, log, start = startThread, limits = LINK_LIMITS }: LinkDependencies,
): Promise<OpenedLink> {
  const { path } = opening.options;
  const opened = Promise.withResolvers<OpenedLink>();
  const closed = Promise.withResolvers<void>();
  const queue = newCallQueue(limits);
  const inFlight = new Map<number, PendingCall | null>();
  let state: State = { kind: "down", thread: null };
  let totals = NO_TOTALS;
  let wasOpen = false;
  let isFlushing = false;
  let reported: Problem | null = null;
  let ids = 0;
  let cancelTimer: (() => void) | null = null;

  function setTimer(ms: number, task: () => void): void {
    stopTimer();
    cancelTimer = world.after(ms, () => {
      cancelTimer = null;
      task();
    });
  }

  function stopTimer(): void {
    cancelTimer?.();
    cancelTimer = null;
  }

  function report(problem: Problem): void {
    if (problem !== reported) log.error(operationProblem(problem, path));
    reported = problem;
  }

  function reportSuccess(): void {
    if (reported !== null) log.warn(`The database "${path}" (state.sqlite.path) works again.`);
    reported = null;
  }

  function failAll(problem: Problem): void {
    const failing = [...inFlight.values(), ...queue.takeAll()];
    for (const id of inFlight.keys()) inFlight.set(id, null);
    for (const pending of failing) pending?.resolve({ ok: false, problem });
  }

  function launch(): void {
    const thread = start({
      onReply: (reply) => state.thread === thread && receive(reply),
      onCrash: () => state.thread === thread && replace(),
    });
    state = { kind: "opening", thread };
    setTimer(limits.openTimeoutMs, replace);
    thread.post({ kind: "open", ...opening });
  }

  /** Ends the thread after a failure. Another one is started, unless the file was never open. */
  function replace(problem: Problem = "worker"): void {
    const isClosing = state.kind === "closing";
    stopTimer();
    state.thread?.terminate();
    failAll("worker");
    inFlight.clear();
    state = { kind: isClosing || !wasOpen ? "closed" : "down", thread: null };
    if (isClosing) return closed.resolve();
    if (!wasOpen) return opened.resolve({ ok: false, problem: openingProblem(problem, path) });
    report(problem);
    setTimer(limits.restartMs, launch);
  }

  function receive(reply: WorkerReply): void {
    switch (reply.kind) {
      case "opened":
        stopTimer();
        totals = reply.totals;
        if (state.kind === "opening") state = { ...state, kind: "ready" };
        if (wasOpen) reportSuccess();
        else opened.resolve({ ok: true, link });
        wasOpen = true;
        return;
      case "refused":
        return replace(reply.problem);
      case "broken":
        return replace();
      case "results":
        totals = reply.totals ?? totals;
        for (const result of reply.results) settle(result);
        if (inFlight.size === 0) becomeIdle();
        return;
      case "closed":
        stopTimer();
        state.thread?.terminate();
        state = { kind: "closed", thread: null };
        return closed.resolve();
    }
  }

  function settle(result: CallResult): void {
    if (!result.ok) report(result.problem);
    else if (result.hasWritten) reportSuccess();
    inFlight.get(result.id)?.resolve(result);
    inFlight.delete(result.id);
  }

  function becomeIdle(): void {
    stopTimer();
    if (state.kind === "late") {
      state = { ...state, kind: "ready" };
      reportSuccess();
    }
    flush();
  }

  /** Sends the calls that wait, if the thread is free. */
  function flush(): void {
    isFlushing = false;
    if ((state.kind !== "ready" && state.kind !== "closing") || inFlight.size > 0) return;
    const batch = queue.takeBatch();
    if (batch.length > 0) {
      for (const pending of batch) inFlight.set(pending.call.id, pending);
      const calls = batch.map(({ call, parameters }) => ({ ...call, parameters: parameters() }));
      state.thread.post({ kind: "run", calls });
      watch();
    } else if (state.kind === "closing") {
      state.thread.post({ kind: "close" });
      setTimer(limits.timeoutMs, replace);
    }
  }

  /** Limits the time of the transaction if a client waits for it. */
  function watch(): void {
    if (cancelTimer !== null) return;
    const isAwaited = queue.isAwaited() || inFlight.values().some((one) => one?.isAwaited === true);
    if (isAwaited) setTimer(limits.timeoutMs, giveUp);
  }

  function giveUp(): void {
    if (state.kind !== "ready") return replace();
    state = { ...state, kind: "late" };
    report("worker");
    failAll("worker");
    // A disk that was stuck for some time needs no other thread, which could not open the file.
    setTimer(limits.graceMs, replace);
  }

  function enqueue(
    name: OperationName,
    { bytes, parameters, isAwaited }: Pick<PendingCall, "bytes" | "parameters" | "isAwaited">,
  ): Promise<Outcome> {
    if (state.kind !== "ready") return Promise.resolve({ ok: false, problem: "worker" });
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const call = { id: ++ids, name, now: Math.floor(world.wall()) };
    const isAdded = queue.push({ call, parameters, bytes, isAwaited, resolve });
    if (!isAdded) return Promise.resolve({ ok: false, problem: "worker" });
    if (inFlight.size > 0) {
      watch();
    } else if (!isFlushing) {
      isFlushing = true;
      queueMicrotask(flush);
    }
    return promise;
  }

  async function request<N extends OperationName>(
    name: N,
    pending: Parameters<typeof enqueue>[1] & { readonly parameters: () => ParametersOf<N> },
  ): Promise<Result<ResultOf<N>>> {
    const outcome = await enqueue(name, pending);
    // The thread runs the operation of this name, whose result has this type.
    return outcome.ok ? success(outcome.value as ResultOf<N>) : storeUnavailable();
  }

  const link: Link = {
    run: (name, parameters) =>
      request(name, {
        parameters: () => parameters,
        bytes: bytesOf(parameters),
        isAwaited: true,
      }),
    runInBackground: (name, parameters) =>
      request(name, { parameters, bytes: 0, isAwaited: false }),
    totals: () => totals,
    close() {
      if (state.kind === "ready") {
        state = { ...state, kind: "closing" };
        if (inFlight.size === 0) flush();
        else if (cancelTimer === null) setTimer(limits.timeoutMs, giveUp);
      } else if (state.kind !== "closing" && state.kind !== "closed") {
        stopTimer();
        state.thread?.terminate();
        failAll("worker");
        state = { kind: "closed", thread: null };
        closed.resolve();
      }
      return closed.promise;
    },
  };
  launch();
  return opened.promise;
}
