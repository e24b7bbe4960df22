import type { StreamEvent } from "../../core/stream/events.ts";
import type { PromiseKind, PromiseResult } from "../../data/promise_kind.ts";
import { pushAll } from "../../core/push_all.ts";
import { fault, type Result, success } from "../../core/failure/result.ts";
import type { Decoder } from "../../core/stream/stream.ts";
import { newCallIds } from "../call_ids.ts";
import type { IdSource } from "../wire.ts";
import { newCallStage } from "./call_stage.ts";
import { MAX_CHECK_STEPS, newCheckBudget } from "./check_budget.ts";
import { newJsonStage } from "./json_stage.ts";
import type { ResponsePromise } from "../../prompt/response_promise.ts";
import type { Stage, StageOptions } from "./stage.ts";
import { newStopStage } from "./stop_stage.ts";
import { newTextCallStage } from "./text_call_stage.ts";

/** Dependencies of the check of one response. */
export interface VerifierOptions {
  readonly isStream: boolean;
  /** Source of the ID of a call that is made of the response's text. */
  readonly idSource: Pick<IdSource, "uuid">;
  /** Called once for each kind of promise that the response kept, or for the one that it broke. */
  onResult(kind: PromiseKind, result: PromiseResult): void;
}

/** Problem of a response whose checks take more steps than the budget has. */
const TOO_LARGE = `takes more than ${MAX_CHECK_STEPS} steps to be checked for`;

/**
 * Returns the check of one response: it returns the events of the response, some of them later, or
 * the fault `promise_broken`.
 */
export function newVerifier(
  promises: readonly ResponsePromise[],
  options: VerifierOptions,
): Stage {
  const budget = newCheckBudget();
  const stages = newStages(promises, options.idSource, {
    isStream: options.isStream,
    budget,
    breaks(promise, what) {
      options.onResult(promise.kind, "broken");
      const problem = budget.steps < 0 ? TOO_LARGE : `${what}, so it breaks`;
      return fault("promise_broken", `The response ${problem} '${promise.path}'.`);
    },
  });
  let isFinished = false;

  function pass(events: readonly StreamEvent[], from: number): Result<readonly StreamEvent[]> {
    let passed = events;
    for (const stage of stages.slice(from)) {
      const out: StreamEvent[] = [];
      for (const event of passed) {
        const step = stage.push(event);
        if (!step.ok) return step;
        pushAll(out, step.value);
      }
      passed = out;
    }
    if (!isFinished && passed.some(({ type }) => type === "finish")) {
      isFinished = true;
      for (const kind of new Set(promises.map((one) => one.kind))) options.onResult(kind, "kept");
    }
    return success(passed);
  }

  return {
    push: (event) => pass([event], 0),
    end() {
      for (const stage of stages) {
        const step = stage.end();
        if (!step.ok) return step;
      }
      return success([]);
    },
    done: () => stages.some((stage) => stage.done()),
    isHolding: () => stages.some((stage) => stage.isHolding()),
    heldBytes: () => stages.reduce((bytes, stage) => bytes + stage.heldBytes(), 0),
  };
}

function newStages(
  promises: readonly ResponsePromise[],
  idSource: Pick<IdSource, "uuid">,
  options: StageOptions,
): readonly Stage[] {
  const stages: Stage[] = [];
  // Text that a stop text cuts off is not checked further.
  for (const promise of promises) {
    if (promise.kind === "stop") stages.push(newStopStage(promise, options));
  }
  for (const promise of promises) {
    if (promise.kind === "json_object" || promise.kind === "json_schema") {
      stages.push(newJsonStage(promise, options));
    }
    if (promise.kind === "tool_choice" && promise.isText) {
      const nameCall = newCallIds(idSource);
      stages.push(newTextCallStage(promise, () => nameCall(null), options));
    }
  }
  const concernsCalls = promises.some(({ kind }) =>
    kind === "strict" || kind === "tool_choice" || kind === "parallel_tool_calls"
  );
  return concernsCalls ? [...stages, newCallStage(promises, options)] : stages;
}

/** Returns the events of a whole response after a stage. */
export function passStage(
  events: readonly StreamEvent[],
  stage: Stage,
): Result<readonly StreamEvent[]> {
  const passed = pushEvents(events, stage);
  if (!passed.ok) return passed;
  const end = stage.end();
  return end.ok ? passed : end;
}

/** Returns a decoder whose events have passed a stage. */
export function newStagedDecoder(decoder: Decoder, stage: Stage): Decoder {
  function passed(events: Result<readonly StreamEvent[]>): Result<readonly StreamEvent[]> {
    return events.ok ? pushEvents(events.value, stage) : events;
  }

  return {
    push: (record) => passed(decoder.push(record)),
    end() {
      const last = passed(decoder.end());
      if (!last.ok) return last;
      const end = stage.end();
      return end.ok ? last : end;
    },
    done: () => stage.done() || decoder.done(),
    usage: () => decoder.usage(),
    isHolding: () => stage.isHolding() || decoder.isHolding?.() === true,
    heldBytes: () => stage.heldBytes() + (decoder.heldBytes?.() ?? 0),
  };
}

function pushEvents(
  events: readonly StreamEvent[],
  stage: Stage,
): Result<readonly StreamEvent[]> {
  const passed: StreamEvent[] = [];
  for (const event of events) {
    const step = stage.push(event);
    if (!step.ok) return step;
    pushAll(passed, step.value);
  }
  return success(passed);
}
