import type { StreamEvent } from "../../core/stream/events.ts";
import { responseEndedEarly, type Result, success } from "../../core/failure/result.ts";
import { STEP_CHARS } from "./check_budget.ts";
import type { PromiseOf } from "../../prompt/response_promise.ts";
import { newHeldEvents, type Stage, type StageOptions } from "./stage.ts";
import { newStopSearch, type StopFound } from "./stop_search.ts";

/**
 * Returns the stage that ends a response before the first stop text in its text. A stream is done
 * then, so that the upstream's stream is cancelled; of a whole response only the token counts
 * follow. Text that may be the start of a stop text is held back, with all events after it.
 */
export function newStopStage(promise: PromiseOf<"stop">, options: StageOptions): Stage {
  const { texts } = promise;
  const search = newStopSearch(texts);
  const held = newHeldEvents(options);
  /** Number of characters that were returned, and that were received. */
  let given = 0;
  let received = 0;
  let hasCalls = false;
  let stopText: string | null = null;
  let isDone = false;

  function push(event: StreamEvent): Result<readonly StreamEvent[]> {
    if (isDone) return success([]);
    if (stopText !== null) return success(afterCut(event, stopText));
    if (event.type === "text") return pushText(event);
    if (event.type === "tool_call") hasCalls = true;
    if (event.type === "finish") {
      isDone = true;
      return success([...release(received), event]);
    }
    if (held.isEmpty()) return success([event]);
    return held.add(event) ?? success([]);
  }

  function pushText(event: StreamEvent & { type: "text" }): Result<readonly StreamEvent[]> {
    received += event.delta.length;
    options.budget.steps -= Math.ceil(event.delta.length * texts.length / STEP_CHARS);
    if (options.budget.steps < 0) return options.breaks(promise, "ends at no stop text");
    const found = search.add(event.delta);
    const tooMuch = held.add(event);
    if (found !== null) return success(cut(found));
    if (tooMuch !== null) return tooMuch;
    return success(release(received - search.pending()));
  }

  /** Returns the held events before character `end` of the text. */
  function release(end: number): readonly StreamEvent[] {
    const released: StreamEvent[] = [];
    for (let event = held.first(); event !== undefined; event = held.first()) {
      if (event.type !== "text") {
        released.push(event);
        held.replaceFirst(null);
        continue;
      }
      const free = Math.min(event.delta.length, end - given);
      given += free;
      if (free > 0) released.push({ ...event, delta: event.delta.slice(0, free) });
      const isWhole = free === event.delta.length;
      held.replaceFirst(isWhole ? null : { ...event, delta: event.delta.slice(free) });
      if (!isWhole) break;
    }
    return released;
  }

  function cut({ start, text }: StopFound): readonly StreamEvent[] {
    const released = release(start);
    held.takeAll();
    stopText = text;
    if (!options.isStream) return released;
    isDone = true;
    const reason = hasCalls ? "tool_calls" : "stop";
    return [...released, { type: "finish", reason, stopText: text }];
  }

  function afterCut(event: StreamEvent, text: string): readonly StreamEvent[] {
    if (event.type === "usage") return [event];
    if (event.type !== "finish") return [];
    isDone = true;
    return [{ ...event, reason: hasCalls ? "tool_calls" : "stop", stopText: text }];
  }

  return {
    push,
    end: () => held.isEmpty() ? success([]) : responseEndedEarly(),
    done: () => options.isStream && stopText !== null,
    isHolding: () => false,
    heldBytes: () => held.bytes(),
  };
}
