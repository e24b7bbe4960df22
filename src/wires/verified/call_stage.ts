import type { StreamEvent } from "../../core/stream/events.ts";
import type { Fault } from "../../core/failure/failure.ts";
import {
  type Failed,
  responseEndedEarly,
  type Result,
  success,
} from "../../core/failure/result.ts";
import type { PromiseOf, ResponsePromise } from "../../prompt/response_promise.ts";
import { isCutBy, newHeldEvents, type Stage, type StageOptions } from "./stage.ts";

/** A strict call whose arguments have not arrived as a whole. */
interface OpenCall {
  readonly promise: PromiseOf<"strict">;
  readonly pieces: string[];
}

/**
 * Returns the stage that checks the calls of a response: their arguments, their names and their
 * number. Text flows until a call begins, or waits for a required call. A strict call is held back
 * until it is whole; if only one call is permitted, it is held back until the finish.
 */
export function newCallStage(promises: readonly ResponsePromise[], options: StageOptions): Stage {
  const { breaks, budget } = options;
  const strict = new Map<string, PromiseOf<"strict">>();
  let choice: PromiseOf<"tool_choice"> | null = null;
  let single: ResponsePromise | null = null;
  for (const promise of promises) {
    if (promise.kind === "strict") strict.set(promise.name, promise);
    if (promise.kind === "tool_choice") choice = promise;
    if (promise.kind === "parallel_tool_calls") single = promise;
  }
  const permitted = choice === null ? null : new Set(choice.permitted);
  const required = choice?.isRequired === true ? choice : null;
  const held = newHeldEvents(options);
  const open = new Map<number, OpenCall>();
  let calls = 0;

  function push(event: StreamEvent): Result<readonly StreamEvent[]> {
    const problem = event.type === "tool_call"
      ? begin(event)
      : event.type === "tool_arguments"
      ? add(event)
      : event.type === "finish"
      ? finish(event)
      : null;
    if (problem !== null) return problem;
    if (event.type === "finish" || mayFlow(event)) return success([...held.takeAll(), event]);
    const tooMuch = held.add(event);
    if (tooMuch !== null) return tooMuch;
    return required !== null && calls === 0 && held.isOverdue()
      ? breaks(required, "does not hold the required call among its first 1,024 pieces of text")
      : success([]);
  }

  /** True if the event and all that is held back may be returned. */
  function mayFlow({ type }: StreamEvent): boolean {
    if (calls > 0) return single === null && open.size === 0;
    const isWaiting = required !== null &&
      (type === "text" || type === "refusal" || type === "annotation");
    return !isWaiting && held.isEmpty();
  }

  function begin(call: StreamEvent & { type: "tool_call" }): Failed<Fault> | null {
    calls += 1;
    if (single !== null && calls > 1) return breaks(single, "holds more than one call");
    if (choice !== null && permitted?.has(call.name) === false) {
      return breaks(choice, "calls a function that the request does not permit");
    }
    const promise = strict.get(call.name);
    if (promise === undefined) return null;
    if (call.arguments !== undefined) return checkArguments(promise, call.arguments);
    open.set(call.index, { promise, pieces: [] });
    return null;
  }

  function add({ index, delta }: StreamEvent & { type: "tool_arguments" }): null {
    open.get(index)?.pieces.push(delta);
    return null;
  }

  function finish({ reason }: StreamEvent & { type: "finish" }): Failed<Fault> | null {
    if (required !== null && calls === 0) {
      return breaks(required, "does not hold the required call");
    }
    for (const { promise, pieces } of open.values()) {
      const problem = isCutBy(reason) ? null : checkArguments(promise, pieces.join(""));
      if (problem !== null) return problem;
    }
    open.clear();
    return null;
  }

  function checkArguments(promise: PromiseOf<"strict">, text: string): Failed<Fault> | null {
    const problem = promise.schema.problem(text, budget);
    return problem === null ? null : breaks(promise, `holds a call whose arguments are ${problem}`);
  }

  return {
    push,
    end: () => held.isEmpty() ? success([]) : responseEndedEarly(),
    done: () => false,
    isHolding: () => calls > 0 && !held.isEmpty(),
    // The pieces of open calls are texts of held events.
    heldBytes: () => held.bytes(),
  };
}
